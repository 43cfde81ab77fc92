"""What a run left in its output folder; docs/formats.md says what is in it. A file that is missing, or a piece of one, as after
a run that was killed, is as if nothing had been written there."""

import array
import csv
import json
import math

MOST_POINTS = 1500  # of a curve; more than a page can show


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


class Table(dict):
    """Columns of numbers by name. Their units stand in brackets behind the names in the file; "" is that of a bare number."""

    def __init__(self, columns=(), units=()):
        super().__init__(columns)
        self.units = dict(units)

    def label(self, name, text=None):
        """The name, or another text for it, with the unit behind it, as an axis has it."""
        unit = self.units.get(name, "").replace("^2", "²").replace("^3", "³")
        return f"{text or name} [{unit}]" if unit else text or name


def read_table(path):
    """nan for what is no number; empty without a whole row. Rows that were cut short are left out."""
    if not path.is_file():
        return Table()
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file)
        heads = [head.partition(" [") for head in next(rows, [])]
        names = [name for name, _, _ in heads]
        columns = [array.array("d") for _ in names]
        for row in rows:
            if len(row) == len(names):
                for column, text in zip(columns, row):
                    column.append(number(text))
    units = ((name, unit.removesuffix("]")) for name, _, unit in heads)
    return Table(zip(names, columns), units) if columns and columns[0] else Table()


def read_rungs(folder):
    """rungs.csv; Grove 0.1 called it timebins.csv, and its column level."""
    table = read_table(folder / "rungs.csv") or read_table(folder / "timebins.csv")
    if "level" in table:
        table["rung"] = table.pop("level")
    return table


def numbers(table, name):
    return table.get(name, [])


class Curve:
    """Points as they come; of very many every k-th, and the last one."""

    def __init__(self):
        self.kept, self.last, self.seen, self.stride = [], None, 0, 1

    def add(self, x, y):
        if self.seen % self.stride == 0:
            self.kept.append((x, y))
            if len(self.kept) > 2 * MOST_POINTS:
                self.kept = self.kept[::2]
                self.stride *= 2
        self.last = (x, y)
        self.seen += 1

    def points(self):
        return self.kept if not self.kept or self.kept[-1] == self.last else self.kept + [self.last]


# The values of steps that curves are drawn of: by these keys.
STEP_CURVES = [("memory", "host"), ("memory", "host_peak"), ("memory", "device_peak"), ("bytes", "sent"), ("bytes", "trees")]


class Log:
    """What log.jsonl tells. A run that was resumed has a leg for each of its starts."""

    def __init__(self, path):
        self.starts = []
        self.curves = {keys: Curve() for keys in STEP_CURVES}
        self.is_done = False  # the last line is the end
        self.verdict = {}  # of the end
        self.peak = 0.0  # bytes of a rank
        self.seconds = 0.0  # of all legs so far
        self.leg_seconds = 0.0  # of the present one
        if path.is_file():
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    self.take(line)
        self.seconds += self.leg_seconds

    def take(self, line):
        try:
            event = json.loads(line)
        except ValueError:  # the last line of a run whose disk was full
            event = {}
        kind = event.get("event")
        self.is_done = kind == "end"
        self.verdict = event.get("verdict", {})
        if kind == "start":
            self.starts.append(event)
            self.seconds += self.leg_seconds
            self.leg_seconds = 0.0
        self.leg_seconds = event.get("run_seconds", self.leg_seconds)
        self.peak = max(self.peak, event.get("memory", {}).get("host_peak", 0.0))
        if kind == "step":
            for keys, curve in self.curves.items():
                value = event.get(keys[0], {}).get(keys[1], 0.0)
                if value > 0:
                    curve.add(event["step"], value)


def thinned(*columns):
    """Every k-th row, and the last one."""
    length = len(columns[0])
    step = max(1, math.ceil(length / MOST_POINTS))
    kept = sorted({*range(0, length, step), length - 1} if length else set())
    return [[column[i] for i in kept] for column in columns]
