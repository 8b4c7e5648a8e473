#!/usr/bin/env python3
"""How often keramos-perf compare is wrong on this machine, with whatever else works on it.

    compare_pairs.py keramos-perf libslow_cblas.so --runs 51 --folder pairs

times a CBLAS beside Keramos, in turns as it is and with 10 % of its time wasted (slow_cblas.cpp). Runs of
the same kind that follow each other must compare as the same; neighbours of different kinds as slower.
Prints how often compare found so. Runs whose files are in the folder already are not repeated, so that
another judge can be tried on the same runs. A test for people: it takes a quarter of an hour.
"""
import argparse
import json
import os
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("slow_cblas")
parser.add_argument("--runs", type=int, default=51, help="of each kind")
parser.add_argument("--folder", default="pairs")
parser.add_argument("--percent", default="10", help="of the time that are wasted")
parser.add_argument("--gemm", default="--size 64:256:+64 --type f32,f64 --sets 2", help="more options of gemm")
parser.add_argument("--compare", default="", help="more options of compare")
options = parser.parse_args()
os.makedirs(options.folder, exist_ok=True)


def run(percent, number):
    path = os.path.join(options.folder, f"{percent}-{number:03}.json")
    if not os.path.exists(path):
        command = [options.program, "gemm", "--provider", f"keramos,blas={os.path.abspath(options.slow_cblas)}",
                   "--output", path + ".running.json"] + options.gemm.split()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, SLOW_CBLAS_PERCENT=percent))
        os.rename(path + ".running.json", path)
    return path


def called_slower(old, new):
    """Whether compare calls anything slower, be it a case or a group."""
    with open(old) as f:
        provider = next(r["provider"] for r in json.load(f)["results"] if r["provider"] != "keramos")
    command = [options.program, "compare", old, new, "--provider", provider, "--format", "json"]
    done = subprocess.run(command + options.compare.split(), stdout=subprocess.PIPE, text=True)
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}")
    result = json.loads(done.stdout)
    judged = [c for c in result["cases"] if c["provider"] == provider] + result["classes"]
    return any(part["verdict"].startswith("SLOWER") for part in judged)


same, slow = [], []
for i in range(options.runs):
    same.append(run("0", i))
    slow.append(run(options.percent, i))
identical = [pair for kind in (same, slow) for pair in zip(kind, kind[1:])]
slower = list(zip(same, slow)) + list(zip(same[1:], slow))
print(f"identical runs called slower: {sum(called_slower(*p) for p in identical)} of {len(identical)}")
print(f"{options.percent} % slower runs found: {sum(called_slower(*p) for p in slower)} of {len(slower)}")
