#!/usr/bin/env python3
"""Makes one HTML page, complete in itself, of what a run left in its output folder. `grove report` runs this.

    report.py FOLDER OUTPUT.html

Reads energy.csv, timing.csv, timebins.csv, log.jsonl, used-parameters.yml and the pictures of snapshots; docs/formats.md says
what is in them. A file or a piece that is missing, as after a run that was killed, leaves its part of the page out.
"""

import array
import base64
import csv
import html
import io
import json
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display
import matplotlib.pyplot as plt

MOST_PICTURES = 12
MOST_POINTS = 1500  # of a curve; more than a page can show
MOST_BARS = 120

# Okabe and Ito's colours, which everybody can tell apart, then greys.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"]
# Phases of timing.csv that a reader tells apart, in the order of a step.
PHASES = [
    ("walk", ["walk"]),
    ("trees of other ranks", ["let"]),
    ("trees", ["build", "moments", "sort"]),
    ("decomposition", ["decompose", "migrate", "move"]),
    ("kicks and drifts", ["advance"]),
    ("waiting for ranks", ["wait"]),
    ("tuning", ["tune"]),
    ("audits", ["audit"]),
    ("output", ["output"]),
    ("checkpoints", ["checkpoint"]),
]

RARE = ("audits", "output", "checkpoints", "rest")  # steps that have them would hide all others

plt.rcParams.update({
    "font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#E5E5E5", "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.3, "svg.fonttype": "path",
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
})

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 0; background: #f6f7f9; }
main { max-width: 1120px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 10px; }
.sub { color: #666; margin: 0 0 18px; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; }
.tile, figure, .card { background: #fff; border: 1px solid #e2e5ea; border-radius: 6px; }
.tile { padding: 10px 14px; } .tile b { display: block; font-size: 19px; } .tile span { color: #666; font-size: 13px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 12px; }
figure { margin: 0; padding: 10px; } figure svg { width: 100%; height: auto; display: block; }
figcaption { color: #555; font-size: 13px; padding: 4px 4px 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 12px; }
.pictures img { width: 100%; display: block; border-radius: 3px; }
.card { padding: 12px 16px; overflow-x: auto; }
table { border-collapse: collapse; } figure table { width: 100%; } td { padding: 3px 18px 3px 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { color: #666; white-space: nowrap; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { font: 12.5px/1.5 ui-monospace, monospace; margin: 0; white-space: pre-wrap; }
.warn { background: #fff4e5; border-color: #f0c48a; }
@media print { body { background: #fff; } main { max-width: none; } }
"""


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def read_table(path):
    """Columns of numbers by name, nan for what is none; {} without a whole row. Rows that were cut short are left out."""
    if not path.is_file():
        return {}
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        columns = [array.array("d") for _ in names]
        for row in rows:
            if len(row) == len(names):
                for column, text in zip(columns, row):
                    column.append(number(text))
    return dict(zip(names, columns)) if columns and columns[0] else {}


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


# Of the lines of steps, what there are curves of: by these keys.
STEP_CURVES = [("memory", "host"), ("memory", "host_peak"), ("memory", "device_peak"), ("bytes", "sent"), ("bytes", "trees")]


class Log:
    """What log.jsonl tells. A run that was resumed has a leg for each of its starts."""

    def __init__(self, path):
        self.starts = []
        self.curves = {keys: Curve() for keys in STEP_CURVES}
        self.is_done = False  # the last line is the end
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


class Page:
    def __init__(self):
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def heading(self, text):
        self.add(f"<h2>{html.escape(text)}</h2>")

    def figures(self, figures):
        shown = [figure for figure in figures if figure]
        if shown:
            self.add('<div class="figures">' + "".join(shown) + "</div>")
        return bool(shown)

    def table(self, rows):
        cells = "".join(f"<tr><td>{html.escape(str(name))}</td><td>{html.escape(str(value))}</td></tr>"
                        for name, value in rows if value not in (None, ""))
        self.add(f'<div class="card"><table>{cells}</table></div>')


def figure(draw, caption, size=(5.6, 3.1)):
    """draw(axes) returns False where there is nothing to show; then there is no figure."""
    fig, axes = plt.subplots(figsize=size, layout="constrained")
    text = ""
    if draw(axes) is not False:
        buffer = io.StringIO()
        fig.savefig(buffer, format="svg", metadata={"Date": None})
        svg = buffer.getvalue()
        text = f"<figure>{svg[svg.index('<svg'):]}<figcaption>{html.escape(caption)}</figcaption></figure>"
    plt.close(fig)
    return text


def has_values(values):
    return any(math.isfinite(v) for v in values)


def draw_energy_error(energy):
    def draw(axes):
        time, error = thinned(numbers(energy, "time"), numbers(energy, "energy_error"))
        if len(time) < 2:
            return False
        axes.plot(time, error)
        axes.set(xlabel="time", ylabel="relative change of the total energy")
    return draw


def draw_energies(energy):
    def draw(axes):
        columns = thinned(*(numbers(energy, name) for name in ("time", "kinetic", "potential", "total")))
        if len(columns[0]) < 2:
            return False
        for name, values in zip(("kinetic", "potential", "total"), columns[1:]):
            axes.plot(columns[0], values, label=name)
        axes.set(xlabel="time", ylabel="energy")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def lengths(table, prefix, start=None):
    columns = [numbers(table, f"{prefix}_{axis}") for axis in "xyz"]
    if start is not None:
        columns = [[v - column[0] for v in column] for column in columns]
    return [math.sqrt(sum(v * v for v in row)) for row in zip(*columns)]


def draw_momentum(energy):
    def draw(axes):
        time, scale = numbers(energy, "time"), numbers(energy, "absolute_momentum")
        momentum = lengths(energy, "momentum")
        turning, first = lengths(energy, "angular_momentum", start=0), lengths(energy, "angular_momentum")
        if len(time) < 2:
            return False
        relative = [p / s if s > 0 else math.nan for p, s in zip(momentum, scale)]
        curves = [("momentum / sum of m |v|", relative)]
        if first[0] > 0:
            curves.append(("change of angular momentum / its begin", [l / first[0] for l in turning]))
        shown = False
        for name, values in curves:
            points = [(t, v) for t, v in zip(time[1:], values[1:]) if v > 0]  # at the begin there is rounding alone
            if points:
                axes.plot(*thinned(*zip(*points)), label=name)
                shown = True
        if not shown:
            return False
        axes.set(xlabel="time", ylabel="relative size", yscale="log")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def draw_audit(energy):
    def draw(axes):
        time = numbers(energy, "time")
        shown = False
        for name, label in (("audit_median", "median"), ("audit_p99", "99th percentile"), ("audit_max", "largest")):
            points = [(t, v) for t, v in zip(time, numbers(energy, name)) if v > 0]
            if points:
                axes.plot(*zip(*points), marker="o", markersize=3, label=label)
                shown = True
        if not shown:
            return False
        axes.set(xlabel="time", ylabel="error of forces", yscale="log")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def phase_seconds(timing):
    """[(name, seconds of each step)] and, at the end, what the phases leave of the total."""
    total = numbers(timing, "total")
    found = []
    for name, columns in PHASES:
        values = [numbers(timing, column) for column in columns if column in timing]
        if values:
            found.append((name, [sum(v for v in row if math.isfinite(v)) for row in zip(*values)]))
    rest = [max(0.0, t - sum(row)) for t, row in zip(total, zip(*(seconds for _, seconds in found)))]
    return found + [("rest", rest)]


def binned(values, bins):
    size = math.ceil(len(values) / bins)
    return [sum(values[i:i + size]) / len(values[i:i + size]) for i in range(0, len(values), size)], size


def draw_phases(timing):
    def draw(axes):
        steps = len(timing.get("total", []))
        if steps < 2:
            return False
        first = 1  # the forces before the first step are no step
        bottom = []
        for colour, (name, seconds) in zip(COLOURS, phase_seconds(timing)):
            if name in RARE:
                continue
            values, size = binned([1e3 * s for s in seconds[first:]], MOST_BARS)
            if not any(v > 0 for v in values):
                continue
            bottom = bottom or [0.0] * len(values)
            axes.bar([first + size * (i + 0.5) for i in range(len(values))], values, size, bottom=bottom, color=colour,
                     label=name, linewidth=0)
            bottom = [b + v for b, v in zip(bottom, values)]
        axes.set(xlabel="step", ylabel="milliseconds per step")
        axes.margins(x=0)
        axes.grid(axis="x", visible=False)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    return draw


def phase_table(timing):
    phases = phase_seconds(timing)
    total = sum(t for t in numbers(timing, "total") if math.isfinite(t))
    if not total > 0:
        return ""
    rows = "".join(f'<tr><td>{html.escape(name)}</td><td class="n">{sum(s):.3f} s</td>'
                   f'<td class="n">{100 * sum(s) / total:.1f} %</td></tr>' for name, s in phases if sum(s) > 0)
    return (f'<figure><table>{rows}<tr><td><b>all</b></td><td class="n"><b>{total:.3f} s</b></td><td></td></tr></table>'
            "<figcaption>Seconds of each phase on its slowest rank, over all steps. Phases that overlap, or whose slowest "
            "ranks differ, may add up to more than all.</figcaption></figure>")


def draw_imbalance(timing):
    def draw(axes):
        values = numbers(timing, "walk_imbalance")
        if len(values) < 2 or not has_values(values) or max(v for v in values if math.isfinite(v)) <= 1:
            return False
        step, imbalance = thinned(numbers(timing, "step"), values)
        axes.plot(step, imbalance)
        axes.set(xlabel="step", ylabel="slowest rank's walk / mean")
        axes.set_ylim(bottom=1)
    return draw


def draw_interactions(timing):
    def draw(axes):
        columns = thinned(*(numbers(timing, name) for name in ("step", "cell_interactions", "particle_interactions")))
        if len(columns[0]) < 2:
            return False
        axes.plot(columns[0], columns[1], label="with cells")
        axes.plot(columns[0], columns[2], label="with particles")
        axes.set(xlabel="step", ylabel="interactions per active particle")
        axes.set_ylim(bottom=0)
        axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def by_level(bins, name):
    """times, and for each level a list of values at these times."""
    times = sorted(set(numbers(bins, "time")))
    place = {time: i for i, time in enumerate(times)}
    levels = {}
    for time, level, value in zip(numbers(bins, "time"), numbers(bins, "level"), numbers(bins, name)):
        levels.setdefault(int(level), [0.0] * len(times))[place[time]] = value
    return times, dict(sorted(levels.items()))


def draw_levels(bins, name, label):
    def draw(axes):
        times, levels = by_level(bins, name)
        if len(times) < 2 or len(levels) < 2:
            return False
        columns = thinned(times, *levels.values())
        colours = plt.get_cmap("viridis")([i / max(1, len(levels) - 1) for i in range(len(levels))])
        axes.stackplot(columns[0], columns[1:], colors=colours, labels=[f"level {level}" for level in levels])
        axes.set(xlabel="time", ylabel=label)
        axes.margins(x=0, y=0)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    return draw


def draw_log(log, parts, label, scale):
    """parts: [(label, one of STEP_CURVES)]"""
    def draw(axes):
        shown = False
        for name, keys in parts:
            points = log.curves[keys].points()
            if len(points) > 1:
                steps, values = zip(*points)
                axes.plot(steps, [scale * v for v in values], label=name)
                shown = True
        if not shown:
            return False
        axes.set(xlabel="step", ylabel=label)
        axes.set_ylim(bottom=0)
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def duration(seconds):
    whole = round(seconds)
    return f"{seconds:.3g} s" if seconds < 100 else f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def tiles(page, log, energy, timing):
    last = log.starts[-1] if log.starts else {}
    entries = []
    if last:
        entries += [(f"{last['particles']:,}", "particles"), (f"{last['ranks']:,}", "ranks")]
    if timing:
        entries.append((f"{int(numbers(timing, 'step')[-1]):,}", "steps"))
    if energy:
        end = f" of {last['time_end']:g}" if last else ""
        entries.append((f"{numbers(energy, 'time')[-1]:g}{end}", "time reached"))
        errors = [abs(v) for v in numbers(energy, "energy_error") if math.isfinite(v)]
        entries.append((f"{max(errors, default=math.nan):.1e}", "largest change of energy"))
    if log.seconds > 0:
        entries.append((duration(log.seconds), "on the clock"))
    if log.peak > 0:
        entries.append((f"{log.peak / 1e6:,.0f} MB", "peak memory of a rank"))
    page.add('<div class="tiles">' + "".join(f'<div class="tile"><b>{html.escape(value)}</b><span>{name}</span></div>'
                                             for value, name in entries) + "</div>")
    if log.starts and not log.is_done:
        page.add('<p class="card warn">The run has not reached its end: it goes on, was stopped, or died. '
                 "What follows is up to its last step.</p>")


def pictures(page, folder):
    files = sorted(folder.glob("snapshot_*.png"))
    if not files:
        return
    page.heading("Pictures")
    chosen = files if len(files) <= MOST_PICTURES else [
        files[round(i * (len(files) - 1) / (MOST_PICTURES - 1))] for i in range(MOST_PICTURES)]
    if len(files) > len(chosen):
        page.add(f'<p class="sub">{len(chosen)} of {len(files)}, evenly chosen.</p>')
    page.add('<div class="pictures">' + "".join(
        f'<figure><img alt="{html.escape(file.stem)}" src="data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}">'
        f"<figcaption>{html.escape(file.stem)}</figcaption></figure>" for file in chosen) + "</div>")


def environment(page, log):
    if not log.starts:
        return
    page.heading("Environment")
    for start in log.starts:
        hosts = ", ".join(f"{host} ({ranks} rank{'s' if ranks > 1 else ''})" for host, ranks in start["hosts"].items())
        page.table([
            ("started", start["started"]), ("Grove", f"{start['version']}, commit {start['commit']}, {start['build_type']}"),
            ("compiler", start["compiler"]), ("CUDA", start["cuda"]), ("instruction set", start["instruction_set"]),
            ("MPI", start["mpi"]), ("hosts", hosts), ("processor", start["processor"]),
            ("GPUs", start["devices"].strip() or "none used"), ("leaves", f"{start['leaves']:,}")])


def make_page(folder):
    energy, timing, bins = (read_table(folder / f"{name}.csv") for name in ("energy", "timing", "timebins"))
    log = Log(folder / "log.jsonl")
    page = Page()
    page.add(f"<h1>{html.escape(folder.name)}</h1><p class='sub'>A run of Grove in {html.escape(str(folder))}</p>")
    tiles(page, log, energy, timing)
    page.heading("Energy and momentum")
    page.figures([
        figure(draw_energy_error(energy), "How far the total energy is from its begin, relative to it."),
        figure(draw_energies(energy), "Energies at the ends of the longest steps."),
        figure(draw_momentum(energy), "Conserved quantities: their errors."),
        figure(draw_audit(energy), "Forces of a sample against direct summation."),
    ])
    page.heading("Time")
    page.figures([
        figure(draw_phases(timing), "Phases of the steps, each on its slowest rank, without audits, output and checkpoints; means of neighbouring steps.",
               size=(6.2, 3.3)),
        phase_table(timing),
        figure(draw_interactions(timing), "How much each particle that gets a force interacts with."),
        figure(draw_imbalance(timing), "How evenly ranks share the walk."),
        figure(draw_log(log, [("in use", ("memory", "host")), ("peak", ("memory", "host_peak")),
                              ("peak of a GPU", ("memory", "device_peak"))], "megabytes", 1e-6),
               "Memory of the rank that has most."),
        figure(draw_log(log, [("all", ("bytes", "sent")), ("trees", ("bytes", "trees"))], "megabytes per step", 1e-6),
               "What ranks send each other."),
    ])
    levels = [
        figure(draw_levels(bins, "particles", "particles"), "Particles by level: a step of level k is the longest over 2^k."),
        figure(draw_levels(bins, "cost_share", "share of interactions"), "What the levels cost."),
    ]
    if any(levels):
        page.heading("Time steps of particles")
        page.figures(levels)
    pictures(page, folder)
    parameters = folder / "used-parameters.yml"
    if parameters.is_file():
        page.heading("Parameters")
        page.add(f'<div class="card"><pre>{html.escape(parameters.read_text(errors="replace"))}</pre></div>')
    environment(page, log)
    body = "\n".join(page.parts)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(folder.name)}: a run of Grove</title><style>{STYLE}</style></head>\n"
            f"<body><main>\n{body}\n</main></body></html>\n")


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.write_text(make_page(folder.resolve()), encoding="utf-8")


if __name__ == "__main__":
    main()
