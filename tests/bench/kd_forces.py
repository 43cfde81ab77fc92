#!/usr/bin/env python3
"""Forces of the published kd-tree beside other trees: the data of figures 1 to 3 and of both tables (kd_figures.sh).

    kd_forces.py GROVE FOLDER [--small]

Prints the tables in Markdown, and leaves them in FOLDER/forces.md and the curves in FOLDER/figures.csv. Where a backend refuses
something, a row says so. Needs nothing but Python.
"""
import argparse
import math
import pathlib
import tempfile

from paper_bench import ONE_LEAF, Forces, Refused, Report, interactions_of, p99_of, percents

ALPHAS = (2.5e-3, 1e-3, 5e-4, 2.5e-4, 1e-4)
# One tree over all, buckets of one particle, monopoles, each particle for itself.
PUBLISHED = "--bucket 1 --walk rope --order monopole --criterion relative_edge " + ONE_LEAF
TREES = {
    "kd-tree, vmh": "--tree kd --split vmh " + PUBLISHED,
    "kd-tree, vmh-tight": "--tree kd --split vmh-tight " + PUBLISHED,
    "kd-tree, middle": "--tree kd --split middle " + PUBLISHED,
    "kd-tree, median": "--tree kd --split median " + PUBLISHED,
    "octree": "--tree octree " + PUBLISHED,
    "Grove's default": "",
}
WITH_GROUPS = "--tree kd --split vmh"
# Milliseconds on a Radeon HD 7950, by number of particles: build, walk.
HD_7950 = {2097152: (698, 651)}
CURVE_POINTS = 120


def forces_of(forces, n, tree, delta, audit=0):
    """A pass over a Hernquist sphere that is not softened."""
    return forces.run("hernquist", n, f"--softening 0 --delta {delta:.6g} {tree}", audit)


def delta_of(forces, n, tree, quantity, target):
    """The delta at which this quantity of the result is the target, to 1 %: both go with a power of delta."""
    delta, known = 1e-3, []
    for _ in range(8):
        value = quantity(forces_of(forces, n, tree, delta, forces.options.audit if quantity is p99_of else 0)[0])
        if abs(value / target - 1) < 0.01:
            break
        known.append((math.log(delta), math.log(value)))
        (x0, y0), (x1, y1) = known[-2] if len(known) > 1 else (0, 0), known[-1]
        slope = (y1 - y0) / (x1 - x0) if len(known) > 1 and y1 != y0 else (0.5 if quantity is p99_of else -0.5)
        delta = math.exp(min(max(x1 + (math.log(target) - y1) / slope, math.log(1e-6)), math.log(0.5)))
    return delta


def curve(errors):
    """Points (error, fraction of particles with a larger one), few where they lie close in the logarithm."""
    ranks = {round(len(errors) ** (k / CURVE_POINTS)) for k in range(CURVE_POINTS + 1)}
    return [(errors[rank - 1], rank / len(errors)) for rank in sorted(ranks)]


def errors_by_alpha(forces, report, n):
    """Figures 1 and 2."""
    report.head(f"{n} particles, figures 1 and 2", "tree", "delta", "interactions", "error, median", "99th percentile")
    for name, tree in TREES.items():
        points = []
        for alpha in forces.options.alphas:
            try:
                result, errors = forces_of(forces, n, tree, alpha, forces.options.audit)
            except Refused as fault:
                report.row(name, f"{alpha:g}", fault, "", "")
                break
            points.append((interactions_of(result), p99_of(result)))
            report.row(name, f"{alpha:g}", f"{points[-1][0]:.0f}", *percents(result))
            if name == "kd-tree, vmh":
                report.add(1, f"{alpha:g}", curve(errors))
        report.add(2, name, points)


def errors_at_1000(forces, report, n):
    """Figure 3."""
    report.head(f"{n} particles, 1000 interactions, figure 3", "tree", "delta", "interactions", "error, median", "99th percentile")
    for name, tree in TREES.items():
        try:
            delta = delta_of(forces, n, tree, interactions_of, 1000)
            result, errors = forces_of(forces, n, tree, delta, forces.options.audit)
        except Refused as fault:
            report.row(name, "", fault, "", "")
            continue
        report.row(name, f"{delta:.3g}", f"{interactions_of(result):.0f}", *percents(result))
        report.add(3, name, curve(errors))


def times(forces, report, sizes):
    """Both tables."""
    report.head(
        "Milliseconds of a pass; HD 7950: as published",
        *("N", "kd-tree", "cuts", "trees", "moments", "build, all of these", "HD 7950: build", "walk", "HD 7950: walk", "whole pass", "99th percentile"),
    )
    try:
        grouped = delta_of(forces, sizes[0], WITH_GROUPS, p99_of, 0.004)
    except Refused as fault:
        report.row(sizes[0], "groups", fault, *[""] * 8)
        grouped = None
    rows = [("published way", TREES["kd-tree, vmh"], 5e-4), ("groups, quadrupoles, buckets of 8", WITH_GROUPS, grouped)]
    for name, tree, delta in rows:
        for n in sizes if delta else []:
            try:
                result, _ = forces_of(forces, n, tree, delta, forces.options.audit)
            except Refused as fault:
                report.row(n, name, fault, *[""] * 8)
                continue
            ms = {phase: 1e3 * seconds for phase, seconds in result["timing"].items()}
            cuts, trees, moments, walk = ms["decompose"], ms["sort"] + ms["build"], ms["moments"], ms["let"] + ms["walk"]
            published = HD_7950.get(n, ("", "")) if name == "published way" else ("", "")
            shown = [f"{x:.2f}" for x in (cuts, trees, moments, cuts + trees + moments, walk, ms["total"])]
            report.row(n, f"{name}, delta {delta:.3g}", *shown[:4], published[0], shown[4], published[1], shown[5], f"{100 * p99_of(result):.3f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("folder", type=pathlib.Path, help="where results go")
    parser.add_argument("-n", type=int, default=250000, help="particles of the figures")
    parser.add_argument("--sizes", type=int, nargs="+", default=[250000, 500000, 1000000, 2097152], help="of the tables")
    parser.add_argument("--audit", type=int, default=20000, help="particles whose errors are measured")
    parser.add_argument("--repeat", type=int, default=5, help="passes, of which the one of median duration counts")
    parser.add_argument("--small", action="store_true", help="4000 particles, 500 audited: a trial of seconds")
    options = parser.parse_args()
    options.alphas = ALPHAS
    if options.small:
        options.alphas = ALPHAS[::2]
        options.n, options.sizes, options.audit, options.repeat = 4000, [2000, 4000], 500, 1
    options.folder.mkdir(parents=True, exist_ok=True)
    report = Report()
    with tempfile.TemporaryDirectory() as work:
        forces = Forces(options, pathlib.Path(work))
        errors_by_alpha(forces, report, options.n)
        errors_at_1000(forces, report, options.n)
        times(forces, report, options.sizes)
    report.save(options.folder)


if __name__ == "__main__":
    main()
