#!/usr/bin/env python3
"""How many FMAs of an object's kernels read three operands from one register bank, which takes a clock more.

  cuobjdump -sass gemm_f32.cpp.o | banks.py 2.5       (fails where a kernel of products has more than so many per cent)

Since Volta registers are in two banks, those with even and those with odd numbers. An operand that the instruction before has read
in the same place, and marked with .reuse, is read from none. (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking", arXiv:1804.06826.) ptxas chooses registers; what is behind a main loop can change those inside of it.
"""
import re
import sys

LEAST_FMAS = 1500  # of tiles of 128x128, whose rate depends on it most


def kernels(lines):
    """Names of kernels, with their instructions."""
    name, code = None, []
    for line in lines:
        if found := re.search(r"Function : (\S+)", line):
            if name:
                yield name, code
            name, code = found[1], []
        elif found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?(.*?);", line):
            code.append(found[1])
    if name:
        yield name, code


def conflicts(code):
    """FMAs of a kernel, and those with a conflict."""
    fmas = slow = 0
    kept = {}  # the register that each place of an operand still has
    for instruction in code:
        if not instruction.startswith("FFMA"):
            kept = {}
            continue
        fmas += 1
        read, marked = set(), {}
        for place, operand in enumerate(instruction.split(None, 1)[1].split(",")[1:]):
            register = re.match(r"[-|\s]*R(\d+)(\.reuse)?", operand)
            if not register:
                continue
            number = int(register[1])
            if kept.get(place) != number:
                read.add(number)
            if register[2]:
                marked[place] = number
        kept = marked
        slow += len(read) == 3 and len({number % 2 for number in read}) == 1
    return fmas, slow


def main():
    most = float(sys.argv[1])
    looked_at = worst = 0
    failed = False
    for name, code in kernels(sys.stdin):
        fmas, slow = conflicts(code)
        if "gemm_kernel" not in name or fmas < LEAST_FMAS:
            continue
        looked_at += 1
        share = 100 * slow / fmas
        worst = max(worst, share)
        if share > most:
            failed = True
            print(f"{share:.1f} % of {fmas} FMAs read one register bank; {most} % are promised: {name}")
    if looked_at == 0:
        sys.exit("no kernel of products")
    print(f"{looked_at} kernels, at most {worst:.1f} % of whose FMAs read one register bank")
    sys.exit(failed)


if __name__ == "__main__":
    main()
