"""Common to kd_forces.py and octree_forces.py: passes of `grove force`, and tables of them in Markdown."""
import csv
import json
import pathlib
import subprocess
import tempfile

ONE_LEAF = "--rule centre --leaf {n}"  # all particles


class Refused(Exception):
    """Grove's message."""


class Forces:
    """Runs `grove force` on models with G = M = 1."""

    def __init__(self, options, work):
        self.options, self.work = options, work

    def snapshot(self, model, n):
        path = self.work / f"{model}-{n}.hdf5"
        if not path.exists():
            subprocess.run([self.options.grove, "ic", model, "-n", str(n), "-o", path], check=True, stdout=subprocess.DEVNULL)
        return path

    def run(self, model, n, choices, audit=0):
        """The JSON of one run, and the errors of the audited particles, the largest first. choices: options; {n} in them is the
        number of particles."""
        words = choices.format(n=n).split() + ["--audit", str(audit), "--repeat", str(self.options.repeat)]
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            out, errors = pathlib.Path(folder, "force.json"), pathlib.Path(folder, "errors.csv")
            if audit:
                words += ["--errors", errors]
            words = [self.options.grove, "force", self.snapshot(model, n), "--json", out, *words]
            done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise Refused((done.stderr.strip().splitlines() or ["?"])[-1])
            result = json.loads(out.read_text())
            if not audit:
                return result, []
            with open(errors, newline="") as table:
                return result, sorted((float(row["error"]) for row in csv.DictReader(table)), reverse=True)


def interactions_of(result):
    return result["interactions_per_particle"]["cell"] + result["interactions_per_particle"]["particle"]


def p99_of(result):
    return result["error"]["p99"]


def percents(result):
    return (f"{100 * result['error'][key]:.3f} %" for key in ("median", "p99"))


class Report:
    """Tables on the console, to be kept, and points of curves."""

    def __init__(self):
        self.lines, self.points = [], []

    def say(self, *lines):
        self.lines += lines
        print("\n".join(lines), flush=True)

    def head(self, title, *columns):
        self.say("", title, "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns))

    def row(self, *cells):
        self.say("| " + " | ".join(map(str, cells)) + " |")

    def add(self, figure, series, points):
        self.points += [(figure, series, f"{x:.6g}", f"{y:.6g}") for x, y in points]

    def save(self, folder):
        (folder / "forces.md").write_text("\n".join(self.lines) + "\n")
        with open(folder / "figures.csv", "w", encoding="utf-8", newline="") as table:
            csv.writer(table).writerows([("figure", "series", "x", "y"), *self.points])
