#!/usr/bin/env python3
"""Runs the examples of gas, and draws and tabulates what they found beside what is known: docs/gas.md.

    gas_figures.py GROVE FOLDER [--small] [--sod N] [--sedov N] [--evrard N] [--steps N] [--shells N] [--only NAME...]

sod, sedov and evrard run jobs/examples/NAME.yml with so many particles; sod is held beside the exact solution, sedov beside the
self-similar front, evrard beside shells in one dimension (evrard_reference.py). steps runs evrard once with block steps and once with a
step for all, as short as the shortest of these, and holds the step of the gas beside that of gravity. FOLDER gets the runs, tables.md, and
NAME.png where there is matplotlib. --small: few particles, a trial of seconds to a minute. Needs numpy and h5py.
"""
import argparse
import csv
import pathlib
import subprocess
import time

import h5py
import numpy as np

import evrard_reference

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "jobs" / "examples"
SIZES = {"sod": 100000, "sedov": 100000, "evrard": 30000, "steps": 8192, "shells": 1000}
SMALL = {"sod": 2000, "sedov": 4096, "evrard": 1000, "steps": 500, "shells": 100}
END_OF_STEPS = 1.5  # the collapse and the bounce


def run(grove, name, folder, *changes):
    """Of an example, in place of what an earlier trial left. Returns the seconds that it took."""
    words = [grove, "run", EXAMPLES / f"{name}.yml", "--quiet", "--overwrite"]
    for change in (f"output.folder={folder}", *changes):
        words += ["-P", change]
    begin = time.monotonic()
    subprocess.run(words, check=True)
    return time.monotonic() - begin


def columns_of(path):
    """Of a table: arrays by the heads of columns, without their units. What is no number is left out."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for key in rows[0]:
        try:
            columns[key.split(" [")[0]] = np.array([float(row[key]) for row in rows])
        except ValueError:
            pass
    return columns


class Snapshot:
    """One of a run, by default the last: places, velocities, densities and pressures of the particles of gas."""

    def __init__(self, folder, which=-1):
        with h5py.File(sorted(folder.glob("snapshot_*.hdf5"))[which]) as file:
            gas = file["PartType0"]
            self.time = float(file["Header"].attrs["Time"])
            self.place, self.velocity = gas["Coordinates"][:], gas["Velocities"][:]
            self.density, self.pressure = gas["Density"][:], gas["Pressure"][:]


def energy_change(folder):
    total = columns_of(folder / "energy.csv")["total"]
    return float(np.max(np.abs(total / total[0] - 1)))


class Tube:
    """The exact solution of Sod's problem (Toro, Riemann Solvers, 4.3): a rarefaction to the left, a contact, a shock to the right."""

    gamma = 1.4
    left, right = (1.0, 1.0), (0.125, 0.1)  # density and pressure

    def __init__(self):
        g = self.gamma
        low, high = self.right[1], self.left[1]
        for _ in range(60):
            self.pressure = 0.5 * (low + high)
            low, high = (self.pressure, high) if self.expanded(self.pressure) > self.pushed(self.pressure) else (low, self.pressure)
        self.speed = self.pushed(self.pressure)
        ratio, weak = self.pressure / self.right[1], (g - 1) / (g + 1)
        self.sound = np.sqrt(g * self.left[1] / self.left[0])
        self.density_left = self.left[0] * (self.pressure / self.left[1]) ** (1 / g)
        self.density_right = self.right[0] * (ratio + weak) / (ratio * weak + 1)
        self.shock = self.speed / (1 - self.right[0] / self.density_right)
        self.tail = self.speed - np.sqrt(g * self.pressure / self.density_left)

    def expanded(self, pressure):
        """The speed of the left gas where it has come down to this pressure."""
        g, (density, first) = self.gamma, self.left
        return 2 * np.sqrt(g * first / density) / (g - 1) * (1 - (pressure / first) ** ((g - 1) / (2 * g)))

    def pushed(self, pressure):
        """The speed of the right gas behind a shock of this pressure."""
        g, (density, first) = self.gamma, self.right
        return (pressure - first) * np.sqrt(2 / density / ((g + 1) * pressure + (g - 1) * first))

    def at(self, speed):
        """Density, velocity and pressure where x / t is this."""
        g, c = self.gamma, self.sound
        fan = 2 / (g + 1) + (g - 1) / (g + 1) * -speed / c
        regions = [speed < -c, speed < self.tail, speed < self.speed, speed < self.shock]
        density = [self.left[0] + 0 * speed, self.left[0] * np.abs(fan) ** (2 / (g - 1)), self.density_left, self.density_right]
        pressure = [self.left[1] + 0 * speed, self.left[1] * np.abs(fan) ** (2 * g / (g - 1)), self.pressure, self.pressure]
        velocity = [0 * speed, 2 / (g + 1) * (c + speed), self.speed, self.speed]
        return (
            np.select(regions, density, self.right[0]),
            np.select(regions, velocity, 0),
            np.select(regions, pressure, self.right[1]),
        )


def last_crossing(x, y, level):
    """The largest x at which y, given at rising x, falls through the level; nan: it does not."""
    crossings = np.flatnonzero((y[:-1] > level) & (y[1:] <= level))
    if len(crossings) == 0:
        return np.nan
    above = crossings[-1]
    return x[above] + (x[above + 1] - x[above]) * (y[above] - level) / (y[above] - y[above + 1])


def means(x, values, edges):
    """Middles of the bins that hold something, and the means in them."""
    number, _ = np.histogram(x, edges)
    sums, _ = np.histogram(x, edges, weights=values)
    full = number > 0
    return (0.5 * (edges[1:] + edges[:-1]))[full], sums[full] / number[full]


def on_top(gas, edge):
    """Both tubes on top of each other: x from where the gas was held, the dense gas to the left, and velocities along it."""
    is_mirrored = gas.place[:, 0] < 0.5 * edge
    x = np.where(is_mirrored, edge - gas.place[:, 0], gas.place[:, 0]) - 0.75 * edge
    return x, np.where(is_mirrored, -gas.velocity[:, 0], gas.velocity[:, 0])


def sod(options, folder):
    run(options.grove, "sod", folder, f"initial_conditions.n={options.sod}")
    before, gas, tube = Snapshot(folder, -2), Snapshot(folder), Tube()
    edge = 1.5
    x, velocity = on_top(gas, edge)
    contact, shock, tail = (gas.time * speed for speed in (tube.speed, tube.shock, tube.tail))
    spacing = edge / (16 / 9 * len(x)) ** (1 / 3)

    def shock_speed(gas):
        """x / t where the pressure is half of the shock's; nan: it is smoothed into that of the next tube."""
        ahead = np.arange(tube.speed * gas.time, 0.25 * edge + spacing, spacing)
        place, pressure = means(on_top(gas, edge)[0], gas.pressure, ahead)
        return last_crossing(place, pressure, 0.5 * (tube.pressure + tube.right[1])) / gas.time

    def plateau(values, low, high):
        """Of the middle three fifths between two waves."""
        margin = 0.2 * (high - low)
        return float(np.mean(values[(x > low + margin) & (x < high - margin)]))

    speeds = [(f"sod: speed of the shock until t = {one.time:g}", shock_speed(one), tube.shock) for one in (before, gas)]
    rows = [
        ("sod: P between rarefaction and shock", plateau(gas.pressure, tail, shock), tube.pressure),
        ("sod: v there", plateau(velocity, tail, shock), tube.speed),
        ("sod: rho left of the contact", plateau(gas.density, tail, contact), tube.density_left),
        ("sod: rho right of it", plateau(gas.density, contact, shock), tube.density_right),
        *(speed for speed in speeds if not np.isnan(speed[1])),
        ("sod: largest change of the energy", energy_change(folder), 0),
    ]

    def draw(plt):
        figure, all_axes = plt.subplots(1, 3, figsize=(11, 3.4))
        line = np.linspace(-0.25 * edge, 0.25 * edge, 1000)
        for axes, name, values, exact in zip(all_axes, ("rho", "v", "P"), (gas.density, velocity, gas.pressure), tube.at(line / gas.time)):
            shown = np.linspace(0, len(x) - 1, min(len(x), 3000)).astype(int)
            axes.plot(x[shown], values[shown], ".", markersize=2, color="#0072b2", label=f"Grove, {len(x)} particles")
            axes.plot(line, exact, color="black", linewidth=1, label="exact")
            axes.set(xlabel="x", ylabel=name)
        return figure

    return rows, draw


def sedov(options, folder):
    run(options.grove, "sedov", folder, f"initial_conditions.n={options.sedov}")
    gas = Snapshot(folder)
    front = 1.1517 * gas.time**0.4
    r = np.linalg.norm(gas.place - 0.5, axis=1)
    spacing = len(r) ** (-1 / 3)
    place, density = means(r, gas.density, np.arange(0, 0.5, 0.5 * spacing))
    rows = [
        (f"sedov: the densest shell at t = {gas.time:g}", float(place[np.argmax(density)]), front),
        ("sedov: largest density", float(density.max()), 4),
        ("sedov: largest change of the energy", energy_change(folder), 0),
    ]

    def draw(plt):
        figure, axes = plt.subplots(figsize=(5.5, 3.4))
        near = np.flatnonzero(r < 0.5)
        shown = near[np.linspace(0, len(near) - 1, min(len(near), 4000)).astype(int)]
        axes.plot(r[shown], gas.density[shown], ".", markersize=2, color="#0072b2", label=f"Grove, {len(r)} particles")
        axes.axvline(front, color="black", linewidth=1, label="front of the self-similar solution")
        axes.set(xlabel="r", ylabel="rho")
        return figure

    return rows, draw


def softening_for(number):
    """0.01 for 8192 particles, and less as they are nearer to each other."""
    return f"gravity.softening={0.2 * number ** (-1 / 3):.4g}"


def evrard(options, folder):
    run(options.grove, "evrard", folder, f"initial_conditions.n={options.evrard}", softening_for(options.evrard))
    found = columns_of(folder / "energy.csv")
    reference = np.array(evrard_reference.collapse(options.shells, 3)).T
    known = dict(zip(("time", "internal", "kinetic", "potential"), reference))

    def extremes(curves):
        peak = int(np.argmax(curves["internal"]))
        return [
            ("evrard: thermal energy at most", curves["internal"][peak]),
            ("evrard: which is at t", curves["time"][peak]),
            ("evrard: potential energy at least", curves["potential"].min()),
            ("evrard: thermal energy at t = 3", curves["internal"][-1]),
            ("evrard: potential energy then", curves["potential"][-1]),
            ("evrard: kinetic energy then", curves["kinetic"][-1]),
        ]

    rows = [(name, float(a), float(b)) for (name, a), (_, b) in zip(extremes(found), extremes(known))]
    rows.append(("evrard: total energy at first", float(found["total"][0]), float(reference[4][0])))
    rows.append(("evrard: largest change of it", energy_change(folder), 0))

    def draw(plt):
        figure, axes = plt.subplots(figsize=(5.5, 3.4))
        names = {"internal": "thermal", "kinetic": "kinetic", "potential": "potential"}
        for (key, name), colour in zip(names.items(), ("#d55e00", "#009e73", "#0072b2")):
            axes.plot(found["time"], found[key], color=colour, label=f"{name}, Grove, {options.evrard} particles")
            axes.plot(known["time"], known[key], color=colour, linestyle=":", label=f"{name}, {options.shells} shells")
        axes.set(xlabel="t", ylabel="energy", ylim=(-2.8, 3.6))
        return figure

    return rows, draw


def steps(options, folder):
    """Block steps beside a step for all, on evrard, and what a step of all costs."""
    same = (f"initial_conditions.n={options.steps}", softening_for(options.steps), f"time.end={END_OF_STEPS}", f"output.every={END_OF_STEPS}")
    block_seconds = run(options.grove, "evrard", folder / "block", *same)
    shortest = columns_of(folder / "block" / "rungs.csv")["dt"].min()
    shared_seconds = run(options.grove, "evrard", folder / "shared", *same, "time.steps=shared", f"time.step={shortest:.17g}")
    block, shared = (columns_of(folder / kind / "energy.csv") for kind in ("block", "shared"))
    rows = []
    for key, name in (("internal", "thermal"), ("potential", "potential"), ("kinetic", "kinetic")):
        other = np.interp(block["time"], shared["time"], shared[key])
        largest = float(np.max(np.abs(block[key] - other)) / np.max(np.abs(other)))
        rows.append((f"steps: largest difference of the {name} energies, over the largest energy", largest, 0))
    timing = columns_of(folder / "shared" / "timing.csv")
    rows.append(("steps: seconds, block steps beside a step for all", block_seconds, shared_seconds))
    rows.append(("steps: gas beside gravity, seconds of a step of all", float(np.median(timing["gas"])), float(np.median(timing["walk"]))))
    return rows, None


def save(draw, path):
    """Nothing where matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib here: no figures")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = draw(plt)
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    figure.axes[0].legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    figure.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(figure)


def text_of(name, found, expected):
    ratio = f"{100 * (found / expected - 1):+.1f} %" if expected else ""
    return f"| {name} | {found:.4g} | {expected:.4g} | {ratio} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"[{size}]")
    problems = {problem.__name__: problem for problem in (sod, sedov, evrard, steps)}
    parser.add_argument("--only", nargs="+", choices=problems, default=list(problems))
    options = parser.parse_args()
    for name, size in (SMALL if options.small else SIZES).items():
        if getattr(options, name) is None:
            setattr(options, name, size)
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = ["| | found | known | difference |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in options.only:
        rows, draw = problems[name](options, options.folder / name)
        for row in rows:
            lines.append(text_of(*row))
            print(lines[-1], flush=True)
        if draw:
            save(draw, options.folder / f"{name}.png")
    (options.folder / "tables.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
