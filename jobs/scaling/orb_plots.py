#!/usr/bin/env python3
"""Draws what orb.sh measured, a PNG per figure.

    orb_plots.py FOLDER        (FOLDER/orb.csv and FOLDER/levels.csv are read)
"""

import csv
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display on a compute node
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

NAMES = {
    "a": "a: host alone",
    "b": "b: GPU counts, a launch per cell",
    "c": "c: GPU counts, a launch per level",
    "d": "d: GPU alone, bisection",
    "e": "e: GPU alone, histogram",
}
# Okabe and Ito's colours, which everybody can tell apart.
COLOURS = dict(zip("abcde", ["#000000", "#D55E00", "#E69F00", "#56B4E9", "#0072B2"]))
MARKERS = dict(zip("abcde", "sv^Do"))
PAYLOAD_COLOURS = {"nccl": "#0072B2", "staged": "#D55E00", "mpi": "#009E73"}
# Phases that a reader tells apart; the rest of the total is "other".
PHASES = [
    ("integer coordinates", ["records"], "#999999"),
    ("line up on axes", ["make_axis"], "#E69F00"),
    ("search for cuts", ["count_left", "gather_keys", "greatest_id", "select_tie"], "#D55E00"),
    ("partition", ["partition"], "#CC79A7"),
    ("all of a rank's own cells", ["local"], "#0072B2"),
    ("migrate, tree order", ["migrate", "order"], "#009E73"),
]
OTHER = ("other", "#DDDDDD")

plt.rcParams.update({
    "figure.dpi": 150, "font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#E5E5E5",
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.markersize": 5,
})


def number(text):
    return float(text) if text else math.nan


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in row:
            if key in ("n", "leaves", "ranks", "level"):
                row[key] = int(row[key])
            elif key not in ("run", "schedule", "payload", "phase", "speedup_over"):
                row[key] = number(row[key])
    return rows


class Runs:
    """The rows of the two tables by run."""

    def __init__(self, folder):
        self.all = {}
        for row in read(folder / "orb.csv"):
            keys = ("run", "schedule", "n", "leaves", "ranks", "payload")
            run = self.all.setdefault(row["run"], {**{key: row[key] for key in keys}, "phases": {}, "levels": []})
            run["phases"][row["phase"]] = row
        for row in read(folder / "levels.csv"):
            self.all[row["run"]]["levels"].append(row)

    def one(self, schedule, n, leaves):
        """Of schedule a on most ranks, of others on one; nothing if it was not run."""
        found = [run for run in self.all.values() if (run["schedule"], run["n"], run["leaves"]) == (schedule, n, leaves)
                 and (schedule == "a" or run["ranks"] == 1)]
        return max(found, key=lambda run: run["ranks"], default=None)

    def row_of(self, schedule, sizes, leaves):
        """All that were run of these sizes and numbers of leaves."""
        found = [self.one(schedule, n, d) for n in sizes for d in leaves]
        return [run for run in found if run]

    def main_leaves(self):
        """The number of leaves with most sizes, and of these that with most runs."""
        def weight(leaves):
            these = [run for run in self.all.values() if run["leaves"] == leaves]
            return len({run["n"] for run in these}), len(these)
        return max(self.leaves(), key=weight)

    def sweep_size(self):
        """The number of particles with most numbers of leaves."""
        return max(self.sizes(), key=lambda n: len({run["leaves"] for run in self.all.values() if run["n"] == n}))

    def sizes(self):
        return sorted({run["n"] for run in self.all.values()})

    def leaves(self):
        return sorted({run["leaves"] for run in self.all.values()})


def total(run):
    return run["phases"]["total"]["seconds"]


def power(value):
    exponent = round(math.log2(value))
    return f"$2^{{{exponent}}}$" if 1 << exponent == value else f"{value:,}"


def log2_axis(axis, values, label):
    """Logarithmic, with a tick for each value, or for each second if they are many."""
    values = sorted(values)
    axis.axes.set_xscale("log", base=2)
    shown = values[::-1][:: 1 + len(values) // 10][::-1]
    axis.set_major_locator(FixedLocator(shown))
    axis.set_major_formatter(FixedFormatter([power(value) for value in shown]))
    axis.set_minor_locator(NullLocator())
    axis.set_label_text(label)


def log_numbers(axis):
    """Logarithmic, with plain numbers, for what spans few powers of ten."""
    axis.axes.set_yscale("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def name_of(run):
    if run["schedule"] == "a":
        return f"{NAMES['a']}, {run['ranks']} rank{'s' if run['ranks'] > 1 else ''}"
    return NAMES[run["schedule"]]


def line(axes, schedule, x, y, label=None, **style):
    axes.plot(x, y, color=COLOURS[schedule], marker=MARKERS[schedule], label=label, **style)


def legend_below(figure, handles, columns):
    """Under all panels; matplotlib 3.6 does not keep room for it by itself."""
    room = (0.1 + 0.22 * math.ceil(len(handles) / columns)) / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))
    figure.legend(handles=handles, loc="lower center", ncols=columns, fontsize=8)


def phases(runs, leaves):
    """Time by phase, per particle, so that all sizes can be compared."""
    schedules = [s for s in "abcde" if runs.row_of(s, runs.sizes(), [leaves])]
    figure, panels = plt.subplots(1, len(schedules), figsize=(max(5, 1.2 + 2.4 * len(schedules)), 3.9), squeeze=False,
                                  layout="constrained")
    drawn = set()
    for axes, schedule in zip(panels[0], schedules):
        row = runs.row_of(schedule, runs.sizes(), [leaves])
        x, base = np.arange(len(row)), np.zeros(len(row))
        particles = np.array([run["n"] for run in row])
        whole = np.array([total(run) for run in row]) / particles * 1e9
        stack = []
        for label, keys, colour in PHASES:
            seconds = np.array([sum(run["phases"][key]["seconds"] for key in keys) for run in row])
            stack.append((label, colour, seconds / particles * 1e9))
        # Each phase is that of its slowest rank: on several ranks the sum may exceed the total.
        stack.append((*OTHER, np.maximum(whole - sum(height for _, _, height in stack), 0)))
        for label, colour, height in stack:
            if (height < 0.002 * whole).all():
                continue
            axes.bar(x, height, 0.7, bottom=base, color=colour)
            base += height
            drawn.add(label)
        axes.set_xticks(x, [power(n) for n in particles])
        axes.set_xlim(-0.6, max(len(row), 2) - 0.4)
        axes.grid(axis="x", visible=False)
        axes.set_title(name_of(row[0]).replace(", ", ",\n", 1), fontsize=9)
        axes.set_xlabel("particles")
    panels[0][0].set_ylabel("time per particle [ns]")
    colours = [(label, colour) for label, _, colour in PHASES] + [OTHER]
    legend_below(figure, [Patch(color=colour, label=label) for label, colour in colours if label in drawn],
                 min(4, max(2, len(schedules))))
    figure.suptitle(f"ORB by phase, {leaves} leaves (each panel has its own scale)", fontsize=10)
    return figure


def schedules(runs, leaves):
    figure, axes = plt.subplots(figsize=(8.4, 4.2), layout="constrained")
    shown = set()
    for schedule in "abcde":
        row = runs.row_of(schedule, runs.sizes(), [leaves])
        if not row:
            continue
        n = [run["n"] for run in row]
        shown.update(n)
        line(axes, schedule, n, [total(run) for run in row], name_of(row[-1]))
        axes.plot(n, [run["phases"]["total"]["model_seconds"] for run in row], color=COLOURS[schedule], ls="--", lw=1)
    log2_axis(axes.xaxis, shown, "particles")
    log_numbers(axes.yaxis)
    axes.set(ylabel="time [s]", title=f"ORB with {leaves} leaves")
    model = Line2D([], [], color="gray", ls="--", lw=1, label="model: measured rates, no overlap")
    axes.legend(handles=axes.get_legend_handles_labels()[0] + [model], fontsize=8, loc="center left",
                bbox_to_anchor=(1, 0.5))
    return figure


def leaves_figure(runs, n):
    rows = {s: runs.row_of(s, [n], runs.leaves()) for s in "ace"}
    if max(len(row) for row in rows.values()) < 2:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    shown = {run["leaves"] for row in rows.values() for run in row}
    for schedule, row in rows.items():
        if row:
            line(left, schedule, [run["leaves"] for run in row], [total(run) for run in row], name_of(row[0]))
    for slower in "ac":
        seconds = {run["leaves"]: total(run) for run in rows[slower]}
        both = [run for run in rows["e"] if run["leaves"] in seconds]
        if both:
            line(right, slower, [run["leaves"] for run in both], [seconds[run["leaves"]] / total(run) for run in both])
            right.annotate(f" over {slower}", (both[-1]["leaves"], seconds[both[-1]["leaves"]] / total(both[-1])),
                           xytext=(0, 7), textcoords="offset points", ha="right", color=COLOURS[slower])
    for axes in (left, right):
        log2_axis(axes.xaxis, shown, "leaves")
        log_numbers(axes.yaxis)
    left.set(ylabel="time [s]", title=f"{power(n)} particles")
    right.set(ylabel="speed-up of e", title="how many times faster e is")
    legend_below(figure, left.get_legend_handles_labels()[0], 3)
    right.set_visible(bool(right.lines))
    return figure


def levels_of(run, value):
    """Of the levels that were cut, value(row); the last one only counts the leaves of a tree."""
    cut = [level for level in run["levels"] if 1 << level["level"] < run["leaves"]]
    return [level["level"] for level in cut], [value(level) for level in cut]


def best_size(runs, leaves):
    """The largest one that most of b to e ran."""
    return max(runs.sizes(), key=lambda n: (sum(runs.one(s, n, leaves) is not None for s in "bcde"), n))


def has_gpu_runs(runs, leaves):
    return any(runs.row_of(s, runs.sizes(), [leaves]) for s in "bcde")


def launches(runs, leaves):
    if not has_gpu_runs(runs, leaves):
        return None
    n = best_size(runs, leaves)
    figure, axes = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
    for schedule in "bcde":
        for run in runs.row_of(schedule, [n], [leaves]):
            line(axes, schedule, *levels_of(run, lambda level: level["launches"]),
                 f"{name_of(run)} ({run['phases']['total']['launches']:,.0f} in all)")
    axes.set(yscale="log", xlabel="level of the tree", ylabel="launches of kernels",
             title=f"{power(n)} particles in {leaves} leaves")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize=8)
    return figure


def bus(row):
    return row["to_device"] + row["to_host"]


def bytes_figure(runs, leaves):
    if not has_gpu_runs(runs, leaves):
        return None
    n = best_size(runs, leaves)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    shown = set()
    for schedule in "bcde":
        row = runs.row_of(schedule, runs.sizes(), [leaves])
        if row:
            # b and c move nearly the same: the line on top lets the other be seen.
            style = {"ls": "--", "markerfacecolor": "none"} if schedule == "c" else {}
            where = "on the host" if schedule in "bc" else "on the GPU"
            particles = [run["n"] for run in row]
            shown.update(particles)
            line(left, schedule, particles, [bus(run["phases"]["total"]) for run in row],
                 f"{NAMES[schedule]}; partition {where}", **style)
            for run in runs.row_of(schedule, [n], [leaves]):
                line(right, schedule, *levels_of(run, bus), **style)
    log2_axis(left.xaxis, shown, "particles")
    left.set(yscale="log", ylabel="bytes over the bus, both ways", title=f"{leaves} leaves")
    right.set(yscale="log", xlabel="level of the tree", ylabel="bytes over the bus, both ways",
              title=f"{power(n)} particles in {leaves} leaves")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, left.get_legend_handles_labels()[0], 2)
    return figure


def gpus(runs):
    several = [run for run in runs.all.values() if run["schedule"] == "e" and run["ranks"] > 1]
    if not several:
        return None
    n, leaves = max((run["n"], run["leaves"]) for run in several)
    rows = sorted((run for run in runs.all.values()
                   if (run["schedule"], run["n"], run["leaves"]) == ("e", n, leaves)), key=lambda run: run["ranks"])

    def cuts(run):
        return run["phases"]["cuts"]["seconds"]

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    counts = sorted({run["ranks"] for run in rows})
    for payload in sorted({run["payload"] for run in several}):
        # Nothing travels on one GPU: it begins the line of each payload.
        row = [run for run in rows if run["ranks"] == 1 or run["payload"] == payload]
        own = [run for run in row if run["ranks"] > 1]
        colour = PAYLOAD_COLOURS.get(payload)
        count = [run["ranks"] for run in row]
        left.plot(count, [cuts(run) for run in row], "o-", color=colour, label=f"cuts ({payload})")
        left.plot(count, [run["phases"]["migrate"]["seconds"] for run in row], "s--", color=colour,
                  markerfacecolor="none", label=f"migrate ({payload})")
        migrate = [run["phases"]["migrate"] for run in own]
        middle.plot([run["ranks"] for run in own], [m["sent"] / m["seconds"] * 1e-9 for m in migrate], "o-",
                    color=colour, label=payload)
        middle.plot([run["ranks"] for run in own], [m["link_bytes_per_second"] * 1e-9 for m in migrate], ":",
                    color=colour, label=f"{payload}, link alone")
        work = row[0]["ranks"] * cuts(row[0])
        right.plot(count, [work / (run["ranks"] * cuts(run)) for run in row], "o-", color=colour, label=payload)
    for axes in (left, middle, right):
        log2_axis(axes.xaxis, counts, "GPUs")
        axes.xaxis.set_major_formatter(FixedFormatter([str(count) for count in counts]))
        axes.set_xlim(counts[0] / 1.2, counts[-1] * 1.2)
    log_numbers(left.yaxis)
    log_numbers(middle.yaxis)
    left.set(ylabel="time [s]", title=f"e, {power(n)} particles, {leaves} leaves")
    middle.set(ylabel="sent while migrating [GB/s per GPU]", title="migration")
    right.set(ylabel=f"efficiency against {counts[0]} GPU{'s' if counts[0] > 1 else ''}", title="cuts")
    right.set_ylim(0, 1.1 * max(1, right.get_ylim()[1] / 1.05))
    right.axhline(1, color="gray", lw=0.8)
    for axes in (left, middle, right):
        axes.legend(fontsize=8)
    return figure


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    runs = Runs(folder)
    leaves, n = runs.main_leaves(), runs.sweep_size()
    figures = {
        "phases": phases(runs, leaves),
        "schedules": schedules(runs, leaves),
        "leaves": leaves_figure(runs, n),
        "launches": launches(runs, leaves),
        "bytes": bytes_figure(runs, leaves),
        "gpus": gpus(runs),
    }
    for name, figure in figures.items():
        if figure is None:
            print(f"{name}.png: left out, there are no runs for it")
            continue
        figure.savefig(folder / f"{name}.png")
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
