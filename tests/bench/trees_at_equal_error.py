#!/usr/bin/env python3
"""Trees at the same error of forces: what a pass costs with each, on one GPU or on the host.

    trees_at_equal_error.py GROVE [-n N] [--models MODEL...] [--percentiles PERCENT...] [--small]

Prints a table in Markdown for each model, with rows for each 99th percentile of the error, and then the cheapest tree for each.
Criterion acceleration, quadrupoles, groups, the default leaves. Rows appear as they are measured; each start of the program is
told on stderr. The delta of a row is sought until its own percentile is within 5 % of the one asked for, in at most three starts.
Needs nothing but Python.
"""
import argparse
import bisect
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
    if ", bucket " in tree:
        split, bucket = tree.split(", bucket ")
        at = LARGER_BUCKETS.index(int(bucket))
        return f"{split}, bucket {LARGER_BUCKETS[at - 1]}" if at else split
    return {DEFAULT: None, "octree": DEFAULT, FIRST_SPLIT: DEFAULT}.get(tree, FIRST_SPLIT)


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
        yield from (f"{self.delta:.3g}", f"{100 * self.error:.4f} %", f"{counts['cell']:.0f} + {counts['particle']:.0f}")
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

    def measure(self, tree, options, error):
        """The pass nearest to this error of those that were tried."""
        curve, tried = self.curve(tree), []
        while len(tried) < MOST_STARTS:
            delta = float(f"{math.exp(curve(math.log(error))):.4g}")
            if any(abs(one.error / error - 1) <= WITHIN or abs(one.delta / delta - 1) <= WITHIN / 2 for one in tried):
                break
            result, _ = self.forces.run(self.model, self.forces.options.n, f"{options} --delta {delta}", self.forces.options.audit)
            tried.append(Measured(delta, result))
            tell(f"{self.model}, {tree}: delta {delta:.3g}, {100 * tried[-1].error:.4f} %, {tried[-1].total:.2f} ms")
            curve.add(delta, tried[-1].error)
        return min(tried, key=lambda one: abs(math.log(one.error / error)))

    def row(self, tree, options, percent):
        """None: refused."""
        try:
            measured = self.measure(tree, options, percent / 100)
        except Refused as fault:
            self.report.row(f"{percent:g} %", tree, fault, *[""] * (len(COLUMNS) - 3))
            return None
        self.report.row(f"{percent:g} %", tree, *measured.cells())
        return measured

    def rows(self, percent):
        """All trees at this error, then the kd-tree that is cheapest so far with larger buckets as long as they gain."""
        found = {}
        for tree, options in TREES.items():
            if one := self.row(tree, options, percent):
                found[tree] = one
        kd = [tree for tree in SPLITS if tree in found]
        if not kd:
            return found
        split = best = min(kd, key=lambda tree: found[tree].total)
        for bucket in LARGER_BUCKETS:
            tree = f"{split}, bucket {bucket}"
            one = self.row(tree, f"{SPLITS[split]} --bucket {bucket}", percent)
            if one is None:
                break
            found[tree] = one
            if one.total >= found[best].total:
                break
            best = tree
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
            trees = Trees(forces, report, model, before)
            found = {percent: trees.rows(percent) for percent in options.percentiles}
        before = trees.curves
        report.say("", *(f"- Cheapest at {percent:g} %: {cheapest(of)}." for percent, of in found.items()))
        report.say(*{f"- On {one.where}." for of in found.values() for one in of.values()})


if __name__ == "__main__":
    main()
