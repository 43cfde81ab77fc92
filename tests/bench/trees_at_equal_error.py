#!/usr/bin/env python3
"""Trees at the same error of forces: what a pass costs with each, on one GPU or on the host.

    trees_at_equal_error.py GROVE [-n N] [--models MODEL...] [--percentiles PERCENT...] [--backend BACKEND] [--small]
    trees_at_equal_error.py GROVE [-n N] [--models MODEL...] [--backend BACKEND] --rows-of TABLE [--jobs J]

Prints a table in Markdown for each model, with rows for each 99th percentile of the error, and then the cheapest tree for each.
Criterion acceleration, quadrupoles, groups, the default leaves. Rows appear as they are measured; each start of the program is
told on stderr. The delta of a row is sought until its own percentile is within 5 % of the one asked for, in at most three starts.
--rows-of: the trees and deltas of what an earlier call printed, on another device or with other N; each percentile is measured
again, and J rows are measured at once. Needs nothing but Python.
"""
import argparse
import bisect
import concurrent.futures
import math
import pathlib
import sys
import tempfile
import time

from paper_bench import Forces, Refused, Report, interactions_of, p99_of

MODELS = ("plummer", "hernquist", "nfw", "disk-galaxy")
DEFAULT = "bisection"
SPLITS = {f"kd, {split}": f"--tree kd --split {split}" for split in ("vmh", "vmh-tight", "middle", "median")}
FIRST_SPLIT = "kd, vmh"
TREES = {DEFAULT: "--tree bisection", **SPLITS, "octree": "--tree octree"}
LARGER_BUCKETS = (16, 32)
BUCKET = ", bucket "
WITHIN, MOST_STARTS = 0.05, 3
COLUMNS = (
    *("asked for", "tree", "delta", "99th percentile", "cells + particles", "tests"),
    *("cuts", "build", "moments", "let + walk", "whole pass"),
)


def power_law(log_error):
    """Near 0.33 % at a delta of 0.007, for most models and trees."""
    return math.log(0.007) + (log_error - math.log(0.0033)) / 0.84


class Curve:
    """log(delta) against log(99th percentile) of one tree: a curve like it, shifted to go through what is measured."""

    def __init__(self, like=power_law):
        self.like, self.shifts = like, []  # (log(error), shift), by error

    def __call__(self, log_error):
        right = bisect.bisect_left(self.shifts, (log_error,))
        near = self.shifts[max(right - 1, 0) : right + 1]
        shift = 0
        if near:
            (x0, y0), (x1, y1) = near[0], near[-1]
            shift = y0 if x1 == x0 else y0 + (y1 - y0) * min(max((log_error - x0) / (x1 - x0), 0), 1)
        return self.like(log_error) + shift

    def add(self, delta, error):
        bisect.insort(self.shifts, (math.log(error), math.log(delta) - self.like(math.log(error))))


def similar_to(tree):
    """One with nearly the same errors that is measured before."""
    if BUCKET in tree:
        split, bucket = tree.split(BUCKET)
        at = LARGER_BUCKETS.index(int(bucket))
        return f"{split}{BUCKET}{LARGER_BUCKETS[at - 1]}" if at else split
    return {DEFAULT: None, "octree": DEFAULT, FIRST_SPLIT: DEFAULT}.get(tree, FIRST_SPLIT)


def options_of(tree):
    split, _, bucket = tree.partition(BUCKET)
    return TREES[split] + (f" --bucket {bucket}" if bucket else "")


def measure(forces, model, tree, delta):
    """The pass of a tree with this delta. Refused, if Grove refuses it."""
    options = forces.options
    result, _ = forces.run(model, options.n, f"{options_of(tree)} --delta {delta} --backend {options.backend}", options.audit)
    measured = Measured(delta, result)
    tell(f"{model}, {tree}: delta {delta:.3g}, {100 * measured.error:.4f} %, {measured.total:.2f} ms")
    return measured


def tell_row(report, percent, tree, measured):
    """measured: a Measured, or why there is none."""
    if isinstance(measured, Refused):
        report.row(f"{percent:g} %", tree, measured, *[""] * (len(COLUMNS) - 3))
    else:
        report.row(f"{percent:g} %", tree, *measured.cells())


class Measured:
    """A pass at the delta that gives this error."""

    def __init__(self, delta, result):
        self.delta, self.error = delta, p99_of(result)
        self.per_particle, self.interactions = result["interactions_per_particle"], interactions_of(result)
        ms = {phase: 1e3 * seconds for phase, seconds in result["timing"].items()}
        # On a GPU the walk of own leaves runs behind the exchange of other ranks' trees.
        self.phases = (ms["decompose"], ms["sort"] + ms["build"], ms["moments"], ms["let"] + ms["walk"])
        self.total = ms["total"]
        self.where = f"{result['backend']}, {' '.join(result['device'].split())}, {result['leaves']} leaves"

    def cells(self):
        counts = self.per_particle
        yield from (f"{self.delta:.4g}", f"{100 * self.error:.4f} %", f"{counts['cell']:.0f} + {counts['particle']:.0f}")
        yield from (f"{counts['tests']:.1f}", *(f"{x:.2f}" for x in (*self.phases, self.total)))


class Trees:
    """Measures trees of one model."""

    def __init__(self, forces, report, model, before):
        self.forces, self.report, self.model = forces, report, model
        self.curves, self.before = {}, before  # by tree; before: those of the model before

    def curve(self, tree):
        """It starts like that of a similar tree, from which it differs as in the model before."""
        if tree not in self.curves:
            similar = similar_to(tree)
            if similar is None:
                like = self.before.get(tree, power_law)
            else:
                near, old, beside = self.curve(similar), self.before.get(tree), self.before.get(similar)
                like = (lambda y: near(y) + old(y) - beside(y)) if old and beside else near
            self.curves[tree] = Curve(like)
        return self.curves[tree]

    def search(self, tree, error):
        """The pass nearest to this error of those that were tried."""
        curve, tried = self.curve(tree), []
        while len(tried) < MOST_STARTS:
            delta = float(f"{math.exp(curve(math.log(error))):.4g}")
            if any(abs(one.error / error - 1) <= WITHIN or abs(one.delta / delta - 1) <= WITHIN / 2 for one in tried):
                break
            tried.append(measure(self.forces, self.model, tree, delta))
            curve.add(delta, tried[-1].error)
        return min(tried, key=lambda one: abs(math.log(one.error / error)))

    def row(self, tree, percent):
        """None: refused."""
        try:
            measured = self.search(tree, percent / 100)
        except Refused as fault:
            tell_row(self.report, percent, tree, fault)
            return None
        tell_row(self.report, percent, tree, measured)
        return measured

    def rows(self, percent):
        """All trees at this error, then the kd-tree that is cheapest so far with larger buckets as long as they gain."""
        found = {}
        for tree in TREES:
            if one := self.row(tree, percent):
                found[tree] = one
        kd = [tree for tree in SPLITS if tree in found]
        if not kd:
            return found
        split = best = min(kd, key=lambda tree: found[tree].total)
        for bucket in LARGER_BUCKETS:
            tree = f"{split}{BUCKET}{bucket}"
            one = self.row(tree, percent)
            if one is None:
                break
            found[tree] = one
            if one.total >= found[best].total:
                break
            best = tree
        return found


def rows_of(printed, model):
    """What an earlier call printed of a model: (percent, tree, delta) of each row."""
    rows, is_of_model = [], False
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 1:
            is_of_model = is_of_model and not line or line.startswith(f"{model}, ")
        elif is_of_model and cells[0].endswith(" %") and cells[3]:
            rows.append((float(cells[0].removesuffix(" %")), cells[1], float(cells[2])))
    return rows


def measure_again(forces, report, model, rows):
    """These rows, as many at once as there are jobs. By percentile, what was found for each tree."""

    def one(row):
        try:
            return measure(forces, model, row[1], row[2])
        except Refused as fault:
            return fault

    found = {}
    with concurrent.futures.ThreadPoolExecutor(forces.options.jobs) as pool:
        for (percent, tree, _), measured in zip(rows, pool.map(one, rows)):
            tell_row(report, percent, tree, measured)
            if isinstance(measured, Measured):
                found.setdefault(percent, {})[tree] = measured
    return found


def tell(text, start=time.monotonic()):
    print(f"{time.monotonic() - start:7.1f} s: {text}", file=sys.stderr, flush=True)


def cheapest(found):
    """In words: the shortest pass and the fewest interactions."""
    if not found:
        return "none"
    tree, fewest = min(found, key=lambda name: found[name].total), min(found, key=lambda name: found[name].interactions)
    beside = f", {found[tree].total / found[DEFAULT].total:.2f} of {DEFAULT}" if DEFAULT in found and tree != DEFAULT else ""
    return f"{tree} ({found[tree].total:.2f} ms{beside}); fewest interactions: {fewest} ({found[fewest].interactions:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("-n", type=int, default=2**20, help="particles")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--percentiles", type=float, nargs="+", default=[0.4, 0.1, 0.03], help="of the errors, in percent")
    parser.add_argument("--audit", type=int, default=2000, help="particles whose errors are measured")
    parser.add_argument("--repeat", type=int, default=5, help="passes, of which the one of median duration counts")
    parser.add_argument("--backend", default="auto", help="what computes, as of grove force")
    parser.add_argument("--rows-of", type=pathlib.Path, metavar="TABLE", help="with the trees and deltas of an earlier call")
    parser.add_argument("--jobs", type=int, default=1, help="rows at once, with --rows-of")
    parser.add_argument("--small", action="store_true", help="4000 particles of two models at 0.4 %%: a trial of seconds")
    options = parser.parse_args()
    if options.small:
        options.n, options.models, options.percentiles, options.audit, options.repeat = 4000, MODELS[:2], [0.4], 500, 1
    report, before = Report(), {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as work:  # of this model alone: snapshots may be large
            forces = Forces(options, pathlib.Path(work))
            forces.snapshot(model, options.n)
            tell(f"{model} made")
            report.head(f"{model}, {options.n} particles; milliseconds", *COLUMNS)
            if options.rows_of:
                found = measure_again(forces, report, model, rows_of(options.rows_of.read_text(), model))
            else:
                trees = Trees(forces, report, model, before)
                found = {percent: trees.rows(percent) for percent in options.percentiles}
                before = trees.curves
        report.say("", *(f"- Cheapest at {percent:g} %: {cheapest(of)}." for percent, of in found.items()))
        report.say(*{f"- On {one.where}." for of in found.values() for one in of.values()})


if __name__ == "__main__":
    main()
