#!/usr/bin/env python3
"""Draws figures 2 and 9 of the published octree from what octree_paper.sh left in FOLDER, into FOLDER/figures.png.

    octree_plots.py FOLDER
"""
import pathlib
import sys

from kd_plots import draw, plt, series_of


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = series_of(folder / "figures.csv")
    plot, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    draw(left, figures["2"], "o", title="2", xscale="log", xlabel="particles", ylabel="GFLOPS at 38 flops an interaction")
    draw(right, figures["9"], "o", title="9", xscale="log", yscale="log", xlabel="particles", ylabel="time of a pass [s]")
    plot.tight_layout()
    plot.savefig(folder / "figures.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
