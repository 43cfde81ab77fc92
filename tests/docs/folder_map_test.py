#!/usr/bin/env python3
"""The README's map of folders names every folder of a library in CMakeLists.txt, or one above it, and none that is not there.

    folder_map_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
rows = re.search(r"\| folder \| what is in it \|\n\|[-|]+\n((?:\|.*\n)+)", (source / "README.md").read_text())[1]
named = [folder for row in rows.splitlines() for folder in re.findall(r"`([^`]+)`", row.split("|")[1])]
libraries = {
    folder
    for call in re.findall(r"grove_library\(([^)]*)\)", (source / "CMakeLists.txt").read_text())
    for folder in re.split(r"\s(?:LINK|PRIVATE|EXCLUDE)\b", call)[0].split()[1:]
}
missing = [f for f in sorted(libraries) if not any(f == n or f.startswith(n + "/") for n in named)]
wrong = [n for n in named if not (source / n).is_dir()]
if missing or wrong or len(libraries) < 20:
    sys.exit(f"README.md, map of folders: {missing} are missing, {wrong} are not there; {len(libraries)} libraries were found")
