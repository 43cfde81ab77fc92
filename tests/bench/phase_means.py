#!/usr/bin/env python3
"""Mean milliseconds per step, by phase, of a run's timing.csv, and its energy error.

usage: tests/bench/phase_means.py FOLDER [NAME]

The first half of the steps is left out: the tuning learns in it. NAME begins the line that is printed.
"""

import csv
import sys

PHASES = ("advance", "decompose", "migrate", "move", "sort", "build", "moments", "let", "walk", "wait")


def rows_of(path):
    """Rows by the names of their columns, without the units in brackets."""
    with open(path, encoding="ascii") as file:
        return [{name.partition(" [")[0]: value for name, value in row.items()} for row in csv.DictReader(file)]


def seconds_of(row, phase):
    return float(row.get(phase, 0))  # "move" is younger than some files


def update_of(row):
    older = row.get("repair")
    return row["tree_update"] if older is None else older.replace("cuts", "redecompose")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rows = rows_of(f"{sys.argv[1]}/timing.csv")[1:]  # the first one is the beginning
    errors = [float(row["energy_error"]) for row in rows_of(f"{sys.argv[1]}/energy.csv")]
    later = rows[len(rows) // 2:]
    mean = {phase: 1e3 * sum(seconds_of(row, phase) for row in later) / len(later) for phase in PHASES}
    seconds = sum(seconds_of(row, phase) for row in rows for phase in PHASES)
    done = [update_of(row) for row in rows]
    kinds = {kind: done.count(kind) for kind in ("refit", "renew", "redecompose")}
    few = sorted(sum(1e3 * seconds_of(row, phase) for phase in PHASES)
                 for row in later if int(row["active"]) < 10000)
    print(
        sys.argv[2] if len(sys.argv) == 3 else "",
        f"{len(rows)} steps, {sum(mean.values()):.2f} ms a step:",
        " ".join(f"{phase} {value:.2f}" for phase, value in mean.items()),
        f"; {seconds / float(rows[-1]['time']):.4g} s per unit of time;",
        " ".join(f"{count} {kind}" for kind, count in kinds.items()),
        f"; energy error {errors[-1]:.2e}, largest {max(map(abs, errors)):.2e}",
        f"; fewer than 10000 active: median {few[len(few) // 2]:.2f} ms" if few else "",
    )


if __name__ == "__main__":
    main()
