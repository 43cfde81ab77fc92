#!/usr/bin/env python3
"""Gathers what strong.sh or weak.sh measured into one table.

    tables.py strong|weak FOLDER        (FOLDER/runs/*.json -> FOLDER/strong.csv or weak.csv)

Efficiency is against the run on the fewest ranks: strong, per rank at the same work; weak, at work that grows with ranks.
"""

import csv
import json
import pathlib
import sys

PHASES = ["decompose", "build", "sort", "moments", "let", "walk", "wait"]


def row_of(run):
    timing = run["timing"]
    row = {"ranks": run["ranks"], "n": run["n"], "backend": run["backend"], "seconds": timing["total"]}
    row.update({phase: timing[phase] for phase in PHASES})
    row["imbalance"] = run["imbalance"]
    row["let_bytes"] = run["let"]["bytes"]
    row["let_fraction"] = run["let"]["fraction"]
    row["peak_bytes"] = run["peak_bytes"]
    row["peak_device_bytes"] = run.get("peak_device_bytes", 0)
    row["forces_hash"] = run["forces_hash"]
    return row


def efficiency(kind, row, base):
    """Particles per second and rank, over those of the base."""
    if kind == "weak":
        return base["seconds"] / row["seconds"] * (row["n"] / row["ranks"]) / (base["n"] / base["ranks"])
    return base["seconds"] * base["ranks"] / (row["seconds"] * row["ranks"])


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("strong", "weak"):
        sys.exit(__doc__.strip())
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = [row_of(json.loads(path.read_text())) for path in (folder / "runs").glob("*.json")]
    if not rows:
        sys.exit(f"{folder}/runs: no runs")
    rows.sort(key=lambda row: row["ranks"])
    for row in rows:
        row["efficiency"] = efficiency(kind, row, rows[0])
    if kind == "weak" and len({row["n"] / row["ranks"] for row in rows}) > 1:
        sys.exit(f"{folder}: the runs have different numbers of particles on each rank; give each number an OUT of its own")
    if kind == "strong" and len({row["forces_hash"] for row in rows}) > 1:
        sys.exit(f"{folder}: the forces differ between numbers of ranks, or runs of other particles are among these")
    with open(folder / f"{kind}.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(folder / f"{kind}.csv")


if __name__ == "__main__":
    main()
