#!/usr/bin/env python3
"""No folder of product code includes from another one that includes from it, directly or through others.

    include_circles_test.py SOURCE_FOLDER

A target sees only the headers of those below it; this holds inside of targets with several folders, too.
"""
import graphlib
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
includes = {}  # folder: {folder that it includes from: one of the lines}
for top in ("src", "kernels", "decomposition", "io", "python"):
    for file in sorted((source / top).rglob("*")):
        if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
            continue
        folder = file.parent.relative_to(source)
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            header = next((place / name for place in (file.parent, source, source / "src") if (place / name).is_file()), None)
            if header is None:
                sys.exit(f"{file.relative_to(source)}: there is no {name}")
            target = header.parent.relative_to(source)
            if target != folder:
                includes.setdefault(folder, {}).setdefault(target, f"{file.relative_to(source)} includes {name}")

if sum(len(targets) for targets in includes.values()) < 100:
    sys.exit("too few includes were found: has the layout of the source changed?")
try:
    graphlib.TopologicalSorter({folder: set(targets) for folder, targets in includes.items()}).prepare()
except graphlib.CycleError as error:
    circle = error.args[1][::-1]
    sys.exit("a circle of folders:\n" + "\n".join(f"  {includes[a][b]}" for a, b in zip(circle, circle[1:])))
print(f"{len(includes)} folders, no circle")
