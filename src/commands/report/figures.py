"""Figures of a page, each a text of HTML; empty where there is nothing to show."""

import html
import io
import math

import matplotlib

matplotlib.use("Agg")  # no display
import matplotlib.pyplot as plt

from reading import numbers, thinned

MOST_BARS = 120

# Okabe and Ito's colours, which everybody can tell apart, then grey and black.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000"]
# Phases of timing.csv that a reader tells apart, in the order of a step.
PHASES = [
    ("walk", ["walk"]),
    ("trees of other ranks", ["let"]),
    ("trees", ["build", "moments", "sort"]),
    ("decomposition", ["decompose", "migrate", "move"]),
    ("kicks and drifts", ["advance"]),
    ("waiting for ranks", ["wait"]),
    ("tuning", ["tune"]),
    ("gas", ["gas"]),
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
        axes.set(xlabel=energy.label("time"), ylabel="relative change of the total energy")
    return draw


def draw_energies(energy):
    def draw(axes):
        names = ["kinetic", "potential", "total"]
        if any(numbers(energy, "external")):
            names.insert(2, "external")
        columns = thinned(*(numbers(energy, name) for name in ["time"] + names))
        if len(columns[0]) < 2:
            return False
        for name, values in zip(names, columns[1:]):
            axes.plot(columns[0], values, label=name)
        axes.set(xlabel=energy.label("time"), ylabel=energy.label("total", "energy"))
        axes.legend(ncols=len(names), loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def lengths(table, prefix, start=None):
    columns = [numbers(table, f"{prefix}_{axis}") for axis in "xyz"]
    if start is not None:
        columns = [[v - column[0] for v in column] for column in columns]
    return [math.sqrt(sum(v * v for v in row)) for row in zip(*columns)]


def draw_momentum(energy, verdict):
    """verdict: of the run's end; it tells what changes of angular momentum are compared with."""
    def draw(axes):
        time, scale = numbers(energy, "time"), numbers(energy, "absolute_momentum")
        momentum = lengths(energy, "momentum")
        turning = lengths(energy, "angular_momentum", start=0)
        if len(time) < 2:
            return False
        relative = [p / s if s > 0 else math.nan for p, s in zip(momentum, scale)]
        curves = [("momentum / sum of m |v|", relative)]
        judged = verdict.get("angular_momentum", {})
        if judged.get("scale", 0) > 0:
            of = "its begin" if judged["of"] == "size" else judged["of"]
            curves.append((f"change of angular momentum / {of}", [l / judged["scale"] for l in turning]))
        shown = False
        for name, values in curves:
            points = [(t, v) for t, v in zip(time[1:], values[1:]) if v > 0]  # at the begin there is rounding alone
            if points:
                axes.plot(*thinned(*zip(*points)), label=name)
                shown = True
        if not shown:
            return False
        axes.set(xlabel=energy.label("time"), ylabel="relative size", yscale="log")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def draw_lagrange(energy):
    def draw(axes):
        times = numbers(energy, "time")
        names = [name for name in energy if name.startswith("lagrange_")]
        groups = sorted({name.partition("_type")[2] for name in names})
        shown = False
        for colour, group in zip(COLOURS, groups):
            label = f"type {group}" if group else "all"
            for percent in (10, 50, 90):
                radii = numbers(energy, f"lagrange_{percent}" + (f"_type{group}" if group else ""))
                points = [(t, r) for t, r in zip(times, radii) if r > 0]
                if len(points) < 2:
                    continue
                axes.plot(*thinned(*zip(*points)), color=colour, label=label)
                label, shown = None, True
        if not shown:
            return False
        axes.set(xlabel=energy.label("time"), ylabel=energy.label("lagrange_50", "radius"), yscale="log")
        axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw


def draw_virial(energy):
    def draw(axes):
        points = [(t, v) for t, v in zip(numbers(energy, "time"), numbers(energy, "virial_ratio")) if math.isfinite(v)]
        # It is about the particles' own gravity alone, and equilibrium is not where space expands.
        if len(points) < 2 or any(numbers(energy, "external")) or "scale_factor" in energy:
            return False
        axes.plot(*thinned(*zip(*points)))
        axes.axhline(1, color="#999999", linewidth=0.8)
        axes.set(xlabel=energy.label("time"), ylabel="virial ratio 2K/|W|")
        axes.set_ylim(0, 1.05 * max(1, *(v for _, v in points)))
    return draw


def draw_audit(audit):
    def draw(axes):
        time = numbers(audit, "time")
        shown = False
        for name, label in (("median", "median"), ("p99", "99th percentile"), ("max", "largest")):
            points = [(t, v) for t, v in zip(time, numbers(audit, name)) if v > 0]
            if points:
                axes.plot(*zip(*points), marker="o", markersize=3, label=label)
                shown = True
        if not shown:
            return False
        axes.set(xlabel=audit.label("time"), ylabel="error of forces", yscale="log")
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


def by_rung(table, name):
    """times, and for each rung a list of values at these times."""
    times = sorted(set(numbers(table, "time")))
    place = {time: i for i, time in enumerate(times)}
    rungs = {}
    for time, rung, value in zip(numbers(table, "time"), numbers(table, "rung"), numbers(table, name)):
        rungs.setdefault(int(rung), [0.0] * len(times))[place[time]] = value
    return times, dict(sorted(rungs.items()))


def draw_rungs(table, name, label):
    def draw(axes):
        times, rungs = by_rung(table, name)
        if len(times) < 2 or len(rungs) < 2:
            return False
        columns = thinned(times, *rungs.values())
        colours = plt.get_cmap("viridis")([i / max(1, len(rungs) - 1) for i in range(len(rungs))])
        axes.stackplot(columns[0], columns[1:], colors=colours, labels=[f"rung {rung}" for rung in rungs])
        axes.set(xlabel=table.label("time"), ylabel=label)
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
