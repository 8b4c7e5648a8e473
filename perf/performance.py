#!/usr/bin/env python3
"""Writes the tables and plots of README.md, docs/performance.md and docs/dist.md from the recordings in perf/data/baselines, and
the tables of docs/support.md from the ones in perf/data/support:

  python3 perf/performance.py            rewrites them in place; a plot that changes needs matplotlib
  python3 perf/performance.py --check    shows what would change, and exits 1 if anything would

A page has `<!-- table: NAME -->`, the table, `<!-- end -->`. NAME is a section of performance.ini beside this file, which
says how sections are written. A plot ends with a hash of the results that it shows. Only verified results are taken.
"""

import argparse
import configparser
import difflib
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from statistics import median

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("performance.md", "dist.md", "support.md"))]
TYPES = ["f32", "f64", "i32", "f16", "f16_f32", "bf16", "bf16_f32", "i8_i32", "i8", "tf32", "f32_emulated", "f64_emulated", "f8_bf16", "f8_f16",
         "f8_f32", "c32", "c64", "f16xf32", "bf16xf32", "f32xc32", "f64xc64"]
LIBRARIES = {"cublas": "cuBLAS", "cublaslt": "cuBLASLt", "mkl": "MKL", "openblas": "OpenBLAS"}


def stop(message):
    sys.exit(f"perf/performance.py: {message}")


# --- Recordings ----------------------------------------------------------------------------------

def conditions(text):
    """Of "WORD WORD KEY=VALUE,VALUE": the words, and the conditions as {KEY: [VALUE, VALUE]}."""
    words = text.split()
    wanted = dict(word.split("=") for word in words if "=" in word)
    return [word for word in words if "=" not in word], {key: values.split(",") for key, values in wanted.items()}


def fits(row, wanted):
    return all(str(row.get(key, "")) in values for key, values in wanted.items())


def versions_of(context):
    """Versions by library, as short as pages print them."""
    versions = {}
    for provider, facts in context.get("providers", {}).items():
        library, *version = provider.split("-")
        version = facts["version"].split(",")[0] if version in ([], ["native"]) else version[0]
        versions[library] = ".".join(version.split(".")[:2 if library.startswith("cublas") else 3])
    if context.get("cublasmp"):  # of products over ranks: "VERSION, FILE"
        versions["cublasmp"] = context["cublasmp"].split(",")[0]
    return versions


def described(row, file, context):
    """A result with all that tables ask for, by the same names in all kinds of recordings."""
    row = dict(row, file=file, threads=context["threads"], op=row.get("op_a", "") + row.get("op_b", ""))
    row["device_peak"] = (context.get("peak_gflops") or {}).get(row.get("type"))
    if "m" in row:
        row["shape"] = f"{row['m']} x {row['n']} x {row['k']}"
        if row["median_s"] and row["type"] in ("f32", "f64") and "batch" not in row:  # A, B and C once
            m, n, k, size = row["m"], row["n"], row["k"], 4 if row["type"] == "f32" else 8
            row["gbytes_per_s"] = (m * n + m * k + k * n) * size / row["median_s"] / 1e9
    if "ladder" in row:
        name = row["ladder"]["step"].replace("_", " ")
        row["step"] = f"{row['ladder']['number']} {name}" if row["ladder"]["number"] else f"({name})"
        row["gain"] = row["ladder"]["gain"]
    if "fused_over_product" in row:
        row["fused_cost"] = row["fused_over_product"] - 1
    if "kernel" in row:
        row["kernel"] = row["kernel"].replace("_", " ")
        row["shape"] = row["shape"].replace("x", " x ").replace("*", ", filter of ")
    row["rate"] = row.get("gflops", row.get("gbytes_per_s"))
    if row["rate"] and row["verified"] is not True:
        stop(f"{file} has a result that was not verified: {row}")
    return row


def recording(name):
    return json.loads((ROOT / "perf" / "data" / "baselines" / f"{name}.json").read_text(encoding="utf-8"))


def renew(ladder, spec):
    """Gives a ladder's own products and the vendor's, which other recordings have too, the results of `NAME [KEY=VALUES...]`."""
    (name,), wanted = conditions(spec)
    newer = recording(name)
    ours = versions_of(ladder["context"])
    for library, version in versions_of(newer["context"]).items():
        if ours.get(library, version) != version:
            stop(f"{name} has {library} {version}, the ladder {ours[library]}")
    results = [described(row, name, newer["context"]) for row in newer["results"]]
    above, renewed = {}, []
    for row in ladder["results"]:
        found = [new for new in results if fits(new, wanted) and (new["provider"], new["type"]) == (row["provider"], row["type"])]
        if len(found) > 1:
            stop(f"{name} has several results of {row['provider']} for a ladder's {row['type']}")
        for new in found:
            row.update({key: new[key] for key in ("median_s", "min_s", "iqr_s", "gflops", "verified")})
            row["ladder"]["gain"] = row["gflops"] / above[row["type"]]["gflops"]
            renewed.append(str(row["ladder"]["number"]))
        if row["gflops"]:  # steps that a type does not have are in the file, too
            above[row["type"]] = row
    context = newer["context"]
    ladder["context"]["note"] = f"{' and '.join(sorted(set(renewed)))}: Keramos {context['git_revision']} · {context['date'][:10]}"


def read(lines, library=None):
    """Results and versions of the recordings in lines of `NAME [KEY=VALUES...]`, whose names may have wildcards."""
    rows, versions = [], {}
    for line in lines.strip().splitlines():
        (pattern,), wanted = conditions(line)
        paths = sorted((ROOT / "perf" / "data" / "baselines").glob(pattern + ".json"))
        if not paths:
            stop(f"no recording {pattern}.json")
        for path in paths:
            document = recording(path.stem)
            if library:
                renew(document, library)
            for name, version in versions_of(document["context"]).items():
                if versions.setdefault(name, version) != version:
                    stop(f"{path.name} has {name} {version}, another recording of its table {versions[name]}")
            found = [described(row, path.name, document["context"]) for row in document["results"]]
            rows += [row for row in found if fits(row, wanted)]
    return rows, versions


# --- Figures -------------------------------------------------------------------------------------

def three_digits(x):
    return f"{x:.{0 if x >= 99.95 else 1 if x >= 9.995 else 2}f}"


UNITS = {  # the word in a column: the field, its factor, how it is printed
    "gflops": ("gflops", 1, three_digits),
    "tflops": ("gflops", 1e-3, three_digits),
    "gbytes": ("gbytes_per_s", 1, three_digits),
    "us": ("median_s", 1e6, three_digits),
    "ms": ("median_s", 1e3, three_digits),
    "efficiency": ("efficiency", 1, "{:.2f}".format),
    "peak": ("peak_fraction", 100, "{:.0f} %".format),
    "share": ("copy_fraction", 100, "{:.0f} %".format),
    "gain": ("gain", 1, "x{:.2f}".format),
    "keramos_us": ("keramos_s", 1e6, three_digits),
    "kokkos_us": ("kokkos_s", 1e6, three_digits),
    "overhead_us": ("overhead_s", 1e6, three_digits),
    "overhead_iqr_us": ("overhead_iqr_s", 1e6, three_digits),
    "product_us": ("product_s", 1e6, three_digits),
    "fused_us": ("fused_s", 1e6, three_digits),
    "separate_us": ("separate_s", 1e6, three_digits),
    "fused_cost": ("fused_cost", 100, "{:.1f} %".format),
    "fused_cost_iqr": ("fused_over_product_iqr", 100, "{:.1f} %".format),
    "separate_gain": ("separate_over_fused", 1, "x{:.2f}".format),
}


def value(rows, provider, field):
    """A provider's figure, of several recordings their median; None if there is none. openblas is any version of it."""
    rows = [row for row in rows if row.get(field) is not None]
    found = [row for row in rows if provider in ("any", row.get("provider", provider))]
    if not found:
        found = [row for row in rows if row["provider"].startswith(provider + "-")]
    if len({row["file"] for row in found}) < len(found):
        stop(f"a cell of {provider} has several results of one recording: {[row['file'] for row in found]}")
    return median(row[field] for row in found) if found else None


def best(rows):
    """The fastest provider but for Keramos."""
    others = sorted({row["provider"] for row in rows} - {"keramos"})
    return max(others, key=lambda name: value(rows, name, "rate") or 0, default="none")


def ratio(rows, to):
    """Keramos' rate over that of provider `to`, each the median of the recordings."""
    ours, theirs = value(rows, "keramos", "rate"), value(rows, best(rows) if to == "best" else to, "rate")
    return ours / theirs if ours and theirs else None


def span(rows, to):
    """The least and the largest ratio of single recordings."""
    each = [ratio([row for row in rows if row["file"] == file], to) for file in {row["file"] for row in rows}]
    return f"{min(filter(None, each)):.2f} to {max(filter(None, each)):.2f}"


def scaling(rows, provider):
    """The rate on all threads over that on one, and over the number of threads."""
    who, field = ("keramos", "device_peak") if provider == "peak" else (provider, "rate")
    most = max(row["threads"] for row in rows)
    one, many = (value([row for row in rows if row["threads"] == threads], who, field) for threads in (1, most))
    return f"{many / one / most:.2f}"


def spread(rows):
    """The largest interquartile range of a case as a part of its median, of several recordings the median of theirs."""
    cases = {}
    for row in rows:
        if row["rate"]:
            case = tuple(row.get(key) for key in ("provider", "type", "op", "layout", "shape"))
            cases.setdefault(case, []).append(row["iqr_s"] / row["median_s"])
    return f"{100 * max(map(median, cases.values())):.1f} %" if cases else ""


def cell(spec, rows):
    """A column's text for the results of a line."""
    (what, *who), wanted = conditions(spec)
    ops = wanted.pop("op", None)
    if ops and len(ops) > 1:  # a figure for each
        each = [cell(spec.replace("op=" + ",".join(ops), "op=" + op), rows) for op in ops]
        return ", ".join(text for text in each if text)
    rows = [row for row in rows if fits(row, wanted) and (not ops or row["op"] in ops)]
    if what == "ratio":
        x = ratio(rows, *who)
        return f"{x:.2f}" if x else ""
    if what in UNITS:
        field, factor, text = UNITS[what]
        x = value(rows, *(who or ["keramos"]), field)
        return text(x * factor) if x is not None else ""
    if what in ("span", "scaling", "spread"):
        return {"span": span, "scaling": scaling, "spread": spread}[what](rows, *who)
    return str(rows[0][what])  # a key of the line


# --- Tables --------------------------------------------------------------------------------------

def as_table(titles, lines):
    rule = "|" + "---|" * len(titles)
    title, *rest = (f"| {' | '.join(line)} |" for line in [titles, *lines])
    return "\n".join([title, rule, *rest])


def columns_table(section):
    rows, versions = read(section["files"], section.get("library"))
    keys, wanted = conditions(section["lines"])
    rows = [row for row in rows if all(key in row for key in keys) and fits(row, wanted)]

    def place(row, key):
        if key == "type":
            return TYPES.index(row[key]) if row[key] in TYPES else len(TYPES)
        return row[key] if isinstance(row[key], int) else [r[key] for r in rows].index(row[key])

    lines = {}
    for row in sorted(rows, key=lambda row: [place(row, key) for key in keys]):
        lines.setdefault(tuple(row[key] for key in keys), []).append(row)
    columns = [line.rsplit(": ", 1) for line in section["columns"].strip().splitlines()]
    return as_table([title.format(**versions) for title, _ in columns],
                    [[cell(spec, found) for _, spec in columns] for found in lines.values()])


def summary_table(section):
    titles = ["cases", "how many", "geometric mean", "5th percentile", "least", "which", "largest", "spread"]
    texts = []
    for line in section["summary"].strip().splitlines():
        title, spec = line.rsplit(": ", 1)
        (file, _, to), wanted = conditions(spec)
        rows = [row for row in read(file)[0] if fits(row, wanted)]
        cases = {}
        for row in rows:
            cases.setdefault((row["type"], row["shape"], row["op"]), []).append(row)
        ratios = sorted((ratio(found, to), case) for case, found in cases.items() if ratio(found, to))
        mean = math.exp(sum(math.log(x) for x, _ in ratios) / len(ratios))
        fifth = f"{ratios[len(ratios) // 20][0]:.2f}" if len(ratios) >= 80 else ""
        texts.append([title, str(len(ratios)), f"{mean:.2f}", fifth, f"{ratios[0][0]:.2f}", ", ".join(ratios[0][1]),
                      f"{ratios[-1][0]:.2f}", spread(rows)])
    shown = [i for i in range(len(titles)) if any(text[i] for text in texts)]
    return as_table([titles[i] for i in shown], [[text[i] for i in shown] for text in texts])


def results_table(section):
    texts = []
    for line in section["results"].strip().splitlines():
        device, product, spec = line.split(": ")
        (unit, file, _, to), wanted = conditions(spec)
        rows, versions = read(file)
        rows = [row for row in rows if fits(row, wanted)]
        library = best(rows).split("-")[0] if to == "best" else to
        name = {"gflops": "GFLOP/s", "tflops": "TFLOP/s", "gbytes": "GB/s"}[unit]
        texts.append([device, product, f"{cell(unit, rows)} {name}", f"{cell(f'{unit} {library}', rows)} {name}",
                      f"{LIBRARIES[library]} {versions[library]}", cell(f"ratio {library}", rows)])
    return as_table(["device", "product", "Keramos", "baseline", "which is", "ratio"], texts)


def support_table(section):
    """How many of the mixes of two ops and three layouts the tests did, of each type in each form."""
    document = json.loads((ROOT / "perf" / "data" / "support" / f"{section['support']}.json").read_text(encoding="utf-8"))
    forms = list(dict.fromkeys(["product", *(row["form"] for row in document["tested"])]))
    mixes = {}
    for row in document["tested"]:
        mixes.setdefault(row["type"], {})[row["form"]] = sum(len(text.split()) for text in row["layouts"].values())
    every = 9 * 27
    return as_table(["type", *forms], [[type_, *(str(found.get(form, "")).replace(str(every), "all") for form in forms)]
                                       for type_, found in mixes.items()])


# --- Plots ---------------------------------------------------------------------------------------

def plot(name, section, check):
    """Draws perf/data/baselines/NAME unless it shows these results already; says whether it did not."""
    document = recording(section["plot"])
    if library := section.get("library"):
        renew(document, library)
    shown = json.dumps([document["context"], document["results" if "results" in document else "ranks"]], sort_keys=True)
    last_line = f"<!-- results: {hashlib.sha256(shown.encode()).hexdigest()} -->\n"
    file = ROOT / "perf" / "data" / "baselines" / name
    if file.exists() and file.read_text(encoding="utf-8").endswith(last_line):
        return False
    if check:
        print(f"perf/data/baselines/{name} shows other results than {section['plot']}.json")
        return True
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        results.write_text(json.dumps(document), encoding="utf-8")
        if subprocess.run([sys.executable, ROOT / "perf" / "plot.py", results, "-o", results.with_suffix("")]).returncode:
            stop(f"could not draw {name}")
        text = results.with_suffix(".svg").read_text(encoding="utf-8")
    file.write_text(re.sub(r" +$", "", text, flags=re.MULTILINE) + last_line, encoding="utf-8")
    return True


# --- Pages ---------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    sections = configparser.RawConfigParser()
    sections.read(ROOT / "perf" / "performance.ini", encoding="utf-8")
    kinds = {"columns": columns_table, "summary": summary_table, "results": results_table, "support": support_table}
    plots = [name for name in sections.sections() if "plot" in sections[name]]
    shown, differ = set(plots), False

    def table(match):
        name = match[1]
        if name not in sections:
            stop(f"performance.ini has no section [{name}]")
        shown.add(name)
        make = next(kinds[kind] for kind in kinds if kind in sections[name])
        return f"<!-- table: {name} -->\n\n{make(sections[name])}\n\n<!-- end -->"

    for name in plots:
        differ |= plot(name, sections[name], check)
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = re.sub(r"<!-- table: (\S+) -->\n.*?<!-- end -->", table, old, flags=re.DOTALL)
        if new != old and check:
            name, differ = str(page.relative_to(ROOT)), True
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "recordings"))
        elif new != old:
            page.write_text(new, encoding="utf-8")
    if missing := set(sections.sections()) - shown:
        stop(f"no page shows the tables {sorted(missing)}")
    if differ and check:
        stop("pages differ from the recordings in perf/; run python3 perf/performance.py")


if __name__ == "__main__":
    main()
