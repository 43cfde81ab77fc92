#!/usr/bin/env python3
"""Draws the plots of docs/performance.md from docs/measurements/results.csv, into the folder of that file.

    tests/bench/plot_results.py [RESULTS.csv]

The file has a row for each point: the plot, the series, x, y, and the page or the paper that the number is from.
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"]
MARKERS = "os^D"


def read(path):
    """By plot, then by series: lists of x (words or numbers) and y."""
    plots = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            x, y = plots.setdefault(row["figure"], {}).setdefault(row["series"], ([], []))
            try:
                x.append(float(row["x"]))
            except ValueError:
                x.append(row["x"])
            y.append(float(row["y"]))
    return plots


def draw(axes, plot, lines=True):
    for (name, (x, y)), colour, marker in zip(plot.items(), COLOURS, MARKERS):
        axes.plot(x, y, marker=marker, color=colour, label=name, linestyle="-" if lines else "none", markersize=5)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=80, metadata={"Software": None})


def main():
    default = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measurements" / "results.csv"
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    plots = read(path)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
    draw(left, plots["forces"], lines=False)
    left.set(ylim=(0, 0.1), ylabel="error of the force [%]", title="Forces at default settings, 10$^6$ particles")
    draw(right, plots["energy"], lines=False)
    right.set(yscale="log", ylabel="largest error of the energy [%]", title="Runs of 10$^6$ particles")
    right.tick_params(axis="x", labelsize=8)
    save(figure, path.parent / "accuracy.png")

    errors = {"xscale": "log", "xticks": [0.03, 0.1, 0.3], "xticklabels": ["0.03", "0.1", "0.3"],
              "xlabel": "error of the force, 99th percentile [%]"}
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
    draw(left, plots["step"])
    left.set(yscale="log", xlabel="log$_2$ of the particles", ylabel="mean time of a block step [ms]",
             title="Andromeda galaxy on one GPU")
    draw(right, plots["pass"])
    right.set(**errors, ylim=(0, 95), ylabel="time of a pass [ms]", title="Plummer sphere, 2$^{24}$ particles, one H200")
    save(figure, path.parent / "gpu.png")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
    draw(left, plots["core"])
    left.set(**errors, ylim=(0, 2600), ylabel="interactions per particle",
             title="Hernquist sphere, 10$^6$ particles, one core")
    draw(right, plots["efficiency"])
    right.set(xticks=[1, 2, 4], ylim=(0, 1.1), xlabel="GPUs of one host", ylabel="parallel efficiency", title="Several H200")
    save(figure, path.parent / "scaling.png")


main()
