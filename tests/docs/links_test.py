#!/usr/bin/env python3
"""Pages, comments and scripts point to what is there: links of pages lead to files, `file.hpp` in a page is one of them, and names
of pages in sources are those of pages and headings.

    links_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

FOLDERS = ("decomposition", "docs", "io", "jobs", "kernels", "python", "src", "tests")
ENDINGS = (".cmake", ".cpp", ".cu", ".cuh", ".hpp", ".md", ".py", ".sbatch", ".sh", ".txt", ".yml")

source = pathlib.Path(sys.argv[1])
files = [f for folder in FOLDERS for f in sorted((source / folder).rglob("*")) if f.suffix in ENDINGS]
files += sorted(source.glob("*.md"))
paths = ["/" + str(f.relative_to(source)) for folder in FOLDERS for f in (source / folder).rglob("*") if f.is_file()]
faults, found = [], 0


def has_heading(page, heading):
    text = page.read_text()
    return re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE) or f"**{heading}" in text


for file in files:
    text = file.read_text(errors="replace")
    name = file.relative_to(source)
    if file.suffix == ".md":
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            found += 1
            if not link.startswith("http") and not (file.parent / link.split("#")[0]).exists():
                faults.append(f"{name}: there is no {link}")
        if name.name != "CHANGELOG.md":
            for code in re.findall(r"`([\w/.-]+\.(?:hpp|cuh|cpp|cu|py|sh))`", prose):
                found += 1
                if "NAME" not in code and not any(path.endswith("/" + code) for path in paths):
                    faults.append(f"{name}: there is no {code}")
        mentions = re.findall(r'\]\(([\w./-]+\.md)\),\s"([^"]+)"', prose)
        mentions += [(page, heading) for heading, page in re.findall(r'"([^"\n]+)"\s+in\s+\[[^]]*\]\(([\w./-]+\.md)\)', prose)]
        mentions = [(file.parent / page, heading) for page, heading in mentions]
    else:
        flat = re.sub(r"\s*\n\s*(?://+|#)?\s*", " ", text)  # comments over several lines
        mentions = [(source / page, heading) for page, heading in re.findall(r'(\bdocs/[\w/-]+\.md\b)(?:, "([^"]+)")?', flat)]
    for page, heading in mentions:
        found += 1
        if not page.is_file():
            faults.append(f"{name}: there is no {page}")
        elif heading and not has_heading(page, heading):
            faults.append(f'{name}: {page.name} has no heading "{heading}"')

if faults or found < 100:
    sys.exit("\n".join(faults + [f"{found} links were found"]))
