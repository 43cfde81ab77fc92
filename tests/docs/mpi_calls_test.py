#!/usr/bin/env python3
"""MPI is called in src/comm only, where calls are counted (src/base/activity.hpp).

    mpi_calls_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
calls = re.compile(r"\bP?MPIX?_[A-Z][A-Za-z_]*[a-z]\w*\s*\(")
found, inside = [], 0
for top in ("src", "kernels", "decomposition", "io", "python"):
    for file in sorted((source / top).rglob("*")):
        if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not calls.search(line.split("//")[0]):
                continue
            if file.parent == source / "src/comm":
                inside += 1
            else:
                found.append(f"{file.relative_to(source)}:{number}: {line.strip()}")
if inside < 20:
    sys.exit("too few calls were found in src/comm: has the layout of the source changed?")
if found:
    sys.exit("MPI is called outside of src/comm:\n" + "\n".join(found))
print(f"{inside} lines of src/comm call MPI, and no others")
