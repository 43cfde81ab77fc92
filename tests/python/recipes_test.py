"""Runs what docs/analysis.md says: the run that its recipes go on from, then each recipe as a script of its own.

usage: recipes_test.py GROVE PAGE
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

# Modules that jobs/setup.sh does not install: recipes that import them are left out where they are missing.
OPTIONAL = ("yt", "pynbody")


def main():
    grove, page = sys.argv[1:]
    with open(page) as file:
        blocks = re.findall(r"^```(yaml|python)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    scripts = [text for kind, text in blocks if kind == "python"]
    runs = [text for kind, text in blocks if kind == "yaml"]
    if len(runs) != 1 or len(scripts) < 7:
        sys.exit(f"{page}: {len(runs)} runs and {len(scripts)} recipes were found")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "galaxy.yml"), "w") as file:
            file.write(runs[0])
        subprocess.run([grove, "run", "galaxy.yml"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        for text in scripts:
            missing = [name for name in OPTIONAL
                       if re.search(rf"^import {name}$", text, re.MULTILINE) and not importlib.util.find_spec(name)]
            if missing:
                print(f"not tried, as {missing[0]} is not installed")
                continue
            done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", text], cwd=folder,
                                  capture_output=True, text=True)
            print(done.stdout)
            if done.returncode != 0:
                print(f"FAILED:\n{text}\n{done.stderr}")
                failures += 1
    sys.exit(failures > 0)


main()
