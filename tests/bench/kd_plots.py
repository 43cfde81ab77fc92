#!/usr/bin/env python3
"""Draws figures 1 to 4 of the published kd-tree from what kd_figures.sh left in FOLDER, into FOLDER/figures.png.

    kd_plots.py FOLDER
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from kd_energy import RULES


def series_of(path):
    """By figure, then by series: lists of x and y."""
    figures = {}
    with open(path, newline="") as table:
        for row in csv.DictReader(table):
            x, y = figures.setdefault(row["figure"], {}).setdefault(row["series"], ([], []))
            x.append(float(row["x"]))
            y.append(float(row["y"]))
    return figures


def energies_of(folder):
    """By rule: times and errors of the energy."""
    curves = {}
    for rule, (name, _) in RULES.items():
        path = folder / f"energy_{rule}.csv"
        if path.exists():
            with open(path, newline="") as table:
                rows = [[float(value) for value in row] for row in list(csv.reader(table))[1:]]
            curves[name.replace("`", "")] = tuple(zip(*rows))
    return curves


def draw(axes, curves, marker, **labels):
    for name, (x, y) in curves.items():
        axes.plot(x, y, marker=marker, label=name, linewidth=1.2)
    axes.set(**labels)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = series_of(folder / "figures.csv")
    plot, ((first, second), (third, fourth)) = plt.subplots(2, 2, figsize=(12, 8))
    logarithms = {"xscale": "log", "yscale": "log"}
    above = {"xlabel": "error of the force", "ylabel": "fraction of particles above it", **logarithms}
    draw(first, {f"alpha {name}": curve for name, curve in figures["1"].items()}, None, title="1: kd-tree, vmh", **above)
    draw(second, figures["2"], "o", title="2", xlabel="interactions per particle", ylabel="error, 99th percentile", **logarithms)
    draw(third, figures["3"], None, title="3: at 1000 interactions per particle", **above)
    draw(fourth, energies_of(folder), None, title="4", xlabel="time [Myr]", ylabel="dE/E")
    plot.tight_layout()
    plot.savefig(folder / "figures.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
