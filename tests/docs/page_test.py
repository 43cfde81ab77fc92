"""Runs what a page of the documentation says, in order, in one folder.

usage: page_test.py BUILD PAGE

Of the page's fenced blocks `sh` holds commands, `python` a script, `yaml` a file whose first line is its name, `# galaxy.yml`.
`text` and indented lines are not run: they show output, or what needs root, SLURM, a GPU or programs that may be missing. The
folder has the build in `build`, as a clone of the repository has.
"""
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile

# Modules that jobs/setup.sh does not install: scripts that import them are left out where they are missing.
OPTIONAL = ("yt", "pynbody")
KINDS = ("sh", "python", "yaml", "text")


def blocks(page):
    """Yields the line, kind and text of each fenced block of a page."""
    with open(page) as file:
        lines = file.read().split("\n")
    begin = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is not None:
            yield begin + 1, lines[begin][3:], "\n".join(lines[begin + 1:number]) + "\n"
            begin = None
        elif line[3:] in KINDS:
            begin = number
        else:
            sys.exit(f"{page}:{number + 1}: {line}: one of {', '.join(KINDS)} is expected")
    if begin is not None:
        sys.exit(f"{page}:{begin + 1}: this block has no end")


def here_document(command, text):
    return f"{command} <<'END_OF_BLOCK'\n{text}END_OF_BLOCK\n"


def commands(page, line, kind, text):
    """The commands of a shell that do what a block says."""
    if kind == "yaml":
        name = re.match(r"# ([\w.-]+\.yml)\b", text)
        if not name:
            sys.exit(f"{page}:{line}: the first line must name the file, as in: # galaxy.yml")
        return here_document(f"cat > {name[1]}", text)
    if kind == "python":
        missing = [name for name in OPTIONAL
                   if re.search(rf"^import {name}$", text, re.MULTILINE) and not importlib.util.find_spec(name)]
        if missing:
            return f"echo 'not tried, as {missing[0]} is not installed'\n"
        return here_document("python3 -W error::DeprecationWarning:__main__", text)
    return text


def main():
    build, page = (os.path.abspath(path) for path in sys.argv[1:])
    found = [block for block in blocks(page) if block[1] != "text"]
    if not found:
        sys.exit(f"{page}: has no commands")
    script = ["set -eo pipefail", "trap '[ $? = 0 ] || echo \"FAILED: the block at line $block\"' EXIT"]
    for block in found:
        script += [f"block={block[0]}; echo \"--- line $block\"", commands(page, *block)]
    with tempfile.TemporaryDirectory() as folder:
        work, programs = os.path.join(folder, "work"), os.path.join(folder, "programs")
        os.mkdir(work)
        os.mkdir(programs)
        os.symlink(build, os.path.join(work, "build"))
        with open(os.path.join(programs, "python3"), "w") as file:  # the one that the module was built for
            file.write(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        os.chmod(file.name, 0o755)
        environment = os.environ | {"PATH": os.pathsep.join((programs, build, os.environ["PATH"])),
                                    "PYTHONPATH": os.path.join(build, "python")}
        sys.exit(subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                stderr=subprocess.STDOUT).returncode)


main()
