#!/usr/bin/env python3
"""Draws what strong.sh or weak.sh measured: efficiency, phases, imbalance and bytes, a PNG each.

    plots.py strong|weak FOLDER        (FOLDER/strong.csv or weak.csv is read)
"""

import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display on a compute node
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, NullLocator

# Okabe and Ito's colours, which everybody can tell apart.
PHASES = {"walk": "#0072B2", "let": "#D55E00", "build": "#009E73", "sort": "#56B4E9", "moments": "#F0E442",
          "decompose": "#E69F00", "wait": "#999999"}

plt.rcParams.update({
    "figure.dpi": 150, "font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#E5E5E5",
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.markersize": 5,
})


def read(path):
    with open(path, newline="") as file:
        return [{key: value if key in ("backend", "forces_hash") else float(value) for key, value in row.items()}
                for row in csv.DictReader(file)]


def new_figure(ranks, title, label):
    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    axes.set(xscale="log", xlabel="ranks", ylabel=label, title=title)
    axes.xaxis.set_major_locator(FixedLocator(ranks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    return figure, axes


def column(rows, key, factor=1.0):
    return [factor * row[key] for row in rows]


def efficiency(rows, ranks, what):
    figure, axes = new_figure(ranks, what, "efficiency")
    axes.plot(ranks, column(rows, "efficiency"), "o-", color="#0072B2")
    axes.axhline(1, color="gray", lw=0.8)
    axes.set_ylim(0, 1.1 * max(1, *column(rows, "efficiency")))
    return figure


def phases(rows, ranks, what):
    figure, axes = new_figure(ranks, what, "slowest rank [s]")
    for phase, colour in PHASES.items():
        axes.plot(ranks, column(rows, phase), "o-", color=colour, label=phase)
    axes.plot(ranks, column(rows, "seconds"), "k--", label="all")
    axes.set_yscale("log")
    axes.legend(fontsize=7, ncols=2)
    return figure


def imbalance(rows, ranks, what):
    figure, axes = new_figure(ranks, what, "interactions, busiest rank / mean")
    axes.plot(ranks, column(rows, "imbalance"), "o-", color="#D55E00")
    axes.set_ylim(1, max(1.1, 1.05 * max(column(rows, "imbalance"))))
    return figure


def bytes_moved(rows, ranks, what):
    figure, axes = new_figure(ranks, what, "MB per rank")
    axes.plot(ranks, [1e-6 * row["let_bytes"] / row["ranks"] for row in rows], "o-", color="#D55E00",
              label="trees received")
    axes.plot(ranks, column(rows, "peak_bytes", 1e-6), "s-", color="#0072B2", label="peak memory, busiest rank")
    if any(column(rows, "peak_device_bytes")):
        axes.plot(ranks, column(rows, "peak_device_bytes", 1e-6), "^-", color="#009E73", label="peak memory of a GPU")
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.legend(fontsize=8)
    return figure


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("strong", "weak"):
        sys.exit(__doc__.strip())
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = read(folder / f"{kind}.csv")
    ranks = column(rows, "ranks")
    n = rows[0]["n"] / (rows[0]["ranks"] if kind == "weak" else 1)
    what = f"{n:,.0f} particles {'on each rank' if kind == 'weak' else 'in all'}, {rows[0]['backend']}"
    for draw in (efficiency, phases, imbalance, bytes_moved):
        path = folder / f"{kind}_{draw.__name__}.png"
        draw(rows, ranks, what).savefig(path)
        print(path)


if __name__ == "__main__":
    main()
