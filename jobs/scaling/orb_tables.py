#!/usr/bin/env python3
"""Checks the runs of orb.sh against one another, writes orb.csv and levels.csv, prints speed-ups.

    orb_tables.py FOLDER        (FOLDER/runs/*.json are read; the standard library is enough)
"""

import csv
import json
import pathlib
import sys

FIGURES = ["host_bytes", "device_bytes", "to_device", "to_host", "sent", "launches", "transfers"]
AGAINST = {"c": "b", "e": "a"}  # whose total a schedule's is divided into


def read_runs(folder):
    runs = []
    for path in sorted((folder / "runs").glob("*.json")):
        try:
            run = json.loads(path.read_text())
        except json.JSONDecodeError as error:
            sys.exit(f"orb: {path} is not a result ({error}): remove it, and the run is repeated")
        run["name"] = path.stem
        runs.append(run)
    return runs


def check(runs):
    """Every run is exact, and all with the same particles and leaves have the same tree."""
    first = {}
    for run in runs:
        if not run["exact"]:
            sys.exit(f"orb: run {run['name']} is not exact")
        other = first.setdefault((run["n"], run["leaves"]), run)
        if run["tree_hash"] != other["tree_hash"]:
            sys.exit(f"orb: runs {other['name']} and {run['name']} disagree on the tree: "
                     f"{other['tree_hash']}, {run['tree_hash']}")


def total(run):
    return run["timing"]["total"]


def by_schedule(runs):
    """The run by (n, leaves) and schedule; of schedule a that on most ranks, of others that on one."""
    found = {}
    for run in runs:
        schedule, row = run["schedule_gpu"], found.setdefault((run["n"], run["leaves"]), {})
        if schedule != "a" and run["ranks"] > 1:
            continue
        if schedule not in row or run["ranks"] > row[schedule]["ranks"]:
            row[schedule] = run
    return found


def against(run, table):
    """The schedule that this run is compared with and how much faster it is, or nothing."""
    schedule = run["schedule_gpu"]
    other = table[run["n"], run["leaves"]].get(AGAINST.get(schedule))
    if other is None or run["ranks"] > 1:
        return "", ""
    return AGAINST[schedule], total(other) / total(run)


def head(run):
    return [run["name"], run["schedule_gpu"], run["n"], run["leaves"], run["ranks"], run.get("payload", "")]


def write_csv(path, columns, rows):
    new = path.with_suffix(".new")
    with open(new, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    new.replace(path)


def write_tables(folder, runs, table):
    columns = ["run", "schedule", "n", "leaves", "ranks", "payload"]
    phases, levels = [], []
    for run in runs:
        link = run.get("rates", {}).get("sent_bytes_per_second", 0)
        for phase, seconds in run["timing"].items():
            ratio = against(run, table) if phase == "total" else ("", "")
            activity = [run["activity"][phase][figure] for figure in FIGURES]
            phases.append(head(run) + [phase, seconds, run.get("model", {}).get(phase, "")] + activity
                          + [link, *ratio])
        for level, values in enumerate(run["levels"]):
            levels.append(head(run) + [level, values["seconds"]] + [values["activity"][figure] for figure in FIGURES])
    write_csv(folder / "orb.csv", columns + ["phase", "seconds", "model_seconds"] + FIGURES
              + ["link_bytes_per_second", "speedup_over", "speedup"], phases)
    write_csv(folder / "levels.csv", columns + ["level", "seconds"] + FIGURES, levels)


def print_speedups(table):
    def cell(row, schedule):
        return f"{total(row[schedule]):10.4f}" if schedule in row else f"{'-':>10}"

    def ratio(row, schedule):
        other = AGAINST[schedule]
        return f"{total(row[other]) / total(row[schedule]):8.2f}" if {schedule, other} <= row.keys() else f"{'-':>8}"

    print("seconds in all, and how many times faster\n")
    print(f"{'particles':>12} {'leaves':>7}", *(f"{s:>10}" for s in "abcde"), "e over a c over b")
    for (n, leaves), row in sorted(table.items(), key=lambda item: item[0]):
        print(f"{n:>12} {leaves:>7}", *(cell(row, s) for s in "abcde"), ratio(row, "e"), ratio(row, "c"))


def cuts(run):
    return run["timing"]["cuts"]


def print_gpus(runs):
    """Sizes that ran on several GPUs; the efficiency is against the fewest."""
    runs = [run for run in runs if run["schedule_gpu"] == "e"]
    for n, leaves in sorted({(run["n"], run["leaves"]) for run in runs if run["ranks"] > 1}):
        rows = sorted((run for run in runs if (run["n"], run["leaves"]) == (n, leaves)), key=lambda run: run["ranks"])
        print(f"\nschedule e, {n} particles in {leaves} leaves, seconds\n")
        print("GPUs payload       cuts    migrate  GB/s per GPU  efficiency of the cuts")
        work = min(run["ranks"] * cuts(run) for run in rows if run["ranks"] == rows[0]["ranks"])
        for run in rows:
            migrate, sent = run["timing"]["migrate"], run["activity"]["migrate"]["sent"]
            rate = f"{sent / migrate * 1e-9:.2f}" if sent > 0 else "-"
            payload = run["payload"] if run["ranks"] > 1 else "-"
            print(f"{run['ranks']:>4} {payload:<7} {cuts(run):>10.4f} {migrate:>10.4f} {rate:>13}"
                  f" {work / (run['ranks'] * cuts(run)):>23.2f}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    runs = read_runs(folder)
    if not runs:
        sys.exit(f"orb: no runs in {folder}/runs")
    check(runs)
    table = by_schedule(runs)
    write_tables(folder, runs, table)
    print_speedups(table)
    print_gpus(runs)


if __name__ == "__main__":
    main()
