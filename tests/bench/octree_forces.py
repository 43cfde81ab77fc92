#!/usr/bin/env python3
"""Passes with the published octree: tables II, III and V, figures 2 and 9 and the uniform cube (octree_paper.sh).

    octree_forces.py GROVE FOLDER [--small]

Prints the tables in Markdown, and leaves them in FOLDER/forces.md and the curves in FOLDER/figures.csv. Where a backend refuses
something, a row says so. Needs nothing but Python.
"""
import argparse
import pathlib
import tempfile

from paper_bench import ONE_LEAF, Forces, Refused, Report, interactions_of, percents

# One octree over all, a particle in each bucket, monopoles, each particle for itself.
SPHERE = "--tree octree --criterion opening_cell --bucket 1 --walk rope --order monopole " + ONE_LEAF
SOFTENED = "--kernel plummer --softening 1e-3"
FLOPS = 38  # of an interaction, by the convention of the paper
# Interactions per particle of a double-precision prototype, N = 800,000, by theta.
PROTOTYPE = {0.2: 9631, 0.4: 1859, 0.6: 711, 0.8: 373, 1.0: 227}
PUBLISHED_800K, PUBLISHED_CUBE = 682, 730  # milliseconds on a Radeon HD 5870


def options_of(curve, theta):
    return f"{SOFTENED} --curve {curve} --theta {theta} {SPHERE}"


def parts_of(result):
    """Milliseconds: construction, walk, all."""
    ms = {phase: 1e3 * seconds for phase, seconds in result["timing"].items()}
    return ms["decompose"] + ms["sort"] + ms["build"] + ms["moments"], ms["let"] + ms["walk"], ms["total"]


def by_number(forces, report, sizes):
    """Tables II, III and V, without the unsorted column, which bench_rope_gpu adds."""
    report.head(
        "Uniform sphere, theta = 0.6, milliseconds",
        *("N", "Morton: T_total", "Morton: T_construction", "Hilbert: T_total", "Hilbert: T_construction", "interactions", "error, median", "99th percentile"),
    )
    for n in sizes:
        cells = []
        try:
            for curve in ("morton", "hilbert"):
                result = forces.run("uniform-sphere", n, options_of(curve, 0.6), forces.options.audit)[0]
                construction, _, total = parts_of(result)
                cells += [f"{total:.2f}", f"{construction:.2f}"]
            report.row(n, *cells, f"{interactions_of(result):.1f}", *percents(result))
        except Refused as fault:
            report.row(n, fault, *[""] * 6)


def by_angle(forces, report, n, angles):
    report.head(
        f"Uniform sphere of {n} particles, Hilbert's order, milliseconds",
        *("theta", "interactions", "prototype", "T_total", "T_construction", "walk", "error, median", "99th percentile"),
    )
    for theta in angles:
        try:
            result = forces.run("uniform-sphere", n, options_of("hilbert", theta), forces.options.audit)[0]
        except Refused as fault:
            report.row(theta, fault, *[""] * 6)
            continue
        construction, walk, total = parts_of(result)
        prototype = PROTOTYPE.get(theta, "") if n == 800000 else ""
        report.row(theta, f"{interactions_of(result):.1f}", prototype, f"{total:.2f}", f"{construction:.2f}", f"{walk:.2f}", *percents(result))


def largest(forces, report, sphere, cube):
    """Passes for which there is a published time."""
    report.head("theta = 0.6, Hilbert's order, milliseconds", "particles", "sort + build", "moments", "walk", "whole pass", "published")
    for model, n, published, of in (("uniform-sphere", sphere, PUBLISHED_800K, 800000), ("uniform-cube", cube, PUBLISHED_CUBE, 1048576)):
        try:
            timing = forces.run(model, n, options_of("hilbert", 0.6))[0]["timing"]
        except Refused as fault:
            report.row(f"{model}, {n}", fault, *[""] * 4)
            continue
        ms = {phase: 1e3 * seconds for phase, seconds in timing.items()}
        parts = (ms["decompose"] + ms["sort"] + ms["build"], ms["moments"], ms["let"] + ms["walk"], ms["total"])
        report.row(f"{model}, {n}", *(f"{part:.2f}" for part in parts), published if n == of else "")


def direct_and_tree(forces, report, sizes):
    """Figures 2 and 9."""
    report.head("Direct sums and the tree, theta = 0.6", "N", "direct, ms", f"GFLOPS at {FLOPS} flops", "tree, ms")
    speeds, direct_times, tree_times = [], [], []
    for n in sizes:
        timing = forces.run("uniform-sphere", n, SOFTENED + " --direct")[0]["timing"]
        speeds.append((n, FLOPS * n * n / timing["walk"] / 1e9))
        direct_times.append((n, timing["total"]))
        try:
            tree_times.append((n, forces.run("uniform-sphere", n, options_of("hilbert", 0.6))[0]["timing"]["total"]))
            tree = f"{1e3 * tree_times[-1][1]:.3f}"
        except Refused as fault:
            tree = fault
        report.row(n, f"{1e3 * timing['walk']:.3f}", f"{speeds[-1][1]:.0f}", tree)
    report.add(2, "direct sums", speeds)
    report.add(9, "direct sums", direct_times)
    report.add(9, "octree", tree_times)
    dearer = [n for (n, direct), (_, tree) in zip(direct_times, tree_times) if direct > tree]
    if dearer:
        report.say("", f"The tree is faster from {dearer[0]} particles on.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("folder", type=pathlib.Path, help="where results go")
    parser.add_argument("--audit", type=int, default=2000, help="particles whose errors are measured")
    parser.add_argument("--repeat", type=int, default=9, help="passes, of which the one of median duration counts")
    parser.add_argument("--small", action="store_true", help="few particles: a trial")
    options = parser.parse_args()
    sizes, cube = [50000, 100000, 200000, 400000, 800000], 1048576
    direct = [1 << log2 for log2 in range(10, 18)] + [226304]
    angles = [round(0.1 * k, 1) for k in range(2, 11)]
    if options.small:
        sizes, cube, direct, angles = [2500, 5000], 4096, [512, 1024, 2048, 4096], [0.4, 0.6, 0.8, 1.0]
        options.audit, options.repeat = 500, 1
    options.folder.mkdir(parents=True, exist_ok=True)
    report = Report()
    with tempfile.TemporaryDirectory() as work:
        forces = Forces(options, pathlib.Path(work))
        by_number(forces, report, sizes)
        by_angle(forces, report, sizes[-1], angles)
        largest(forces, report, sizes[-1], cube)
        direct_and_tree(forces, report, direct)
    report.save(options.folder)


if __name__ == "__main__":
    main()
