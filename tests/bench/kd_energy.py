#!/usr/bin/env python3
"""The 20 % rule of the published kd-tree (docs/measurements/kd-tree-paper.md): energy and seconds of a Hernquist sphere of
1.14e12 Msun and 30 kpc, not softened, in steps of 0.003 Myr, whose trees are renewed by three rules.

    kd_energy.py GROVE FOLDER [--small]

GROVE: the program. FOLDER gets energy_RULE.csv, the energy's error against time, and energy.md, the table that is also printed.
Needs nothing but Python. On a GPU if there is one.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

RULES = {
    "above": ("`rebuild_above: 0.2`", "{rebuild_above: 0.2}"),
    "each": ("`rebuild_interval: 1`", "{rebuild_interval: 1}"),
    "tuned": ("of least cost", "{}"),
}
TREES = ("decompose", "migrate", "move", "sort", "build", "moments")


def column(row, name):
    """The value of a column, whatever unit its header names."""
    return next(float(v) for k, v in row.items() if k.split(" [")[0] == name)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def parameters(options, tuning, folder):
    """As published. Rule `halves` does not turn the axes every 16 steps, as `middle` does, nor did the published code."""
    return f"""initial_conditions: {{model: hernquist, n: {options.n}, mass: 1.14e12 Msun, scale: 30 kpc}}
gravity: {{softening: 0, tree: kd, split: vmh, bucket: 1, walk: rope, order: monopole, criterion: relative_edge,
  delta: {options.delta}, first: direct}}
decomposition: {{leaf_size: {options.n}, rule: halves}}
time: {{end: {options.steps * 0.003:.6g} Myr, step: 0.003 Myr, steps: shared}}
tuning: {tuning}
output: {{folder: {folder}, render: false, fields: [ParticleIDs]}}
checkpoint: {{every: 0}}
"""


def run(options, rule, work):
    """One row of the table; keeps the energies."""
    name, tuning = RULES[rule]
    file, folder = work / f"{rule}.yml", work / rule
    file.write_text(parameters(options, tuning, folder))
    done = subprocess.run([options.grove, "run", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    timing = rows_of(folder / "timing.csv")[1:]
    energy = [(column(row, "time"), column(row, "energy_error")) for row in rows_of(folder / "energy.csv")]
    with open(options.folder / f"energy_{rule}.csv", "w", encoding="utf-8", newline="") as table:
        csv.writer(table).writerows([("time [Myr]", "energy_error"), *energy])
    seconds = {phase: sum(column(row, phase) for row in timing) for phase in (*TREES, "total", "audit", "output", "walk")}
    rebuilds = sum(row["tree_update"] == "redecompose" for row in timing)
    pairs = sum(column(row, "cell_interactions") + column(row, "particle_interactions") for row in timing) / len(timing)
    return (
        f"| {name} | {len(timing)} | {rebuilds} | {seconds['total'] - seconds['audit'] - seconds['output']:.2f} "
        f"| {sum(seconds[phase] for phase in TREES):.2f} | {seconds['walk']:.2f} | {pairs:.1f} "
        f"| {max(abs(error) for _, error in energy):.2e} | {abs(energy[-1][1]):.2e} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("folder", type=pathlib.Path, help="where results go")
    parser.add_argument("-n", type=int, default=250000, help="particles")
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--delta", default="5e-4", help="the criterion's alpha")
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=list(RULES))
    parser.add_argument("--small", action="store_true", help="1000 particles, 40 steps: a trial of seconds")
    options = parser.parse_args()
    if options.small:
        options.n, options.steps = 1000, 40
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| trees are renewed | steps | renewed | seconds | trees and moments | walk | interactions a particle | largest dE/E | at the end |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as work:
        for rule in options.rules:
            lines.append(run(options, rule, pathlib.Path(work)))
            print(lines[-1], flush=True)
    (options.folder / "energy.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
