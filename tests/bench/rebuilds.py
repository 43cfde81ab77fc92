#!/usr/bin/env python3
"""Tuned trees beside trees renewed at fixed intervals: seconds, interactions and errors of the energy.

Interval 1 renews trees in each step, others refit them between. At the default accuracy; on a GPU one run at a time.
Each figure is the mean over `--seeds` realisations: the energy's error of a single run scatters by a third.
"""
import argparse
import concurrent.futures
import os
import pathlib
import statistics
import tempfile

from defaults import PROBLEMS, column, rows_of, start


def m31(n):
    """The Andromeda galaxy for twenty longest steps, with the force errors and steps of jobs/examples/m31.yml."""
    softening = 16 * (8388608 / n) ** (1 / 3)
    return {
        "units": "{system: galactic}",
        "initial_conditions": f"{{model: m31, n: {n}}}",
        "gravity": f"{{softening: {softening:.4g} pc, delta: 0.0017}}",
        "time": "{end: 64 Myr, step: 3.2 Myr, eta: 0.5, min_step: 0.09 Myr}",
    }


def spanning(problem, end):
    """The problem to an earlier end."""

    def parameters(n):
        result = PROBLEMS[problem][0](n)
        before = result["time"].split("end: ")[1].split(",")[0]
        return result | {"time": result["time"].replace(f"end: {before}", f"end: {end}")}

    return parameters


CASES = {
    "cold collapse": PROBLEMS["cold collapse"][0],
    "merger": spanning("merger", 12.8),
    "m31": m31,
    "plummer": spanning("plummer", 8),
}


def run(options, work, job):
    """Seconds, interactions [10^9], largest and last error of the energy [%] of one run, or why it failed."""
    name, interval, seed = job
    folder = work / f"{name.replace(' ', '-')}-{interval}-{seed}"
    model = CASES[name](options.n)
    parameters = model | {
        "initial_conditions": model["initial_conditions"].replace("}", f", seed: {seed}}}"),
        "tuning": f"{{rebuild_interval: {interval}}}",
        "output": f"{{folder: {folder}, render: false, fields: [ParticleIDs]}}",
    }
    file = work / f"{folder.name}.yml"
    file.write_text("".join(f"{key}: {value}\n" for key, value in parameters.items()))
    process = start(options.grove, file, options.gpu, ["--overwrite"])
    _, errors = process.communicate()
    if process.returncode != 0:
        return "failed: " + errors.strip().splitlines()[-1]
    timing = rows_of(folder / "timing.csv")[1:]
    energy = [abs(column(row, "energy_error")) for row in rows_of(folder / "energy.csv")]
    phases = ("total", "audit", "output", "checkpoint")
    total, *aside = (sum(column(row, phase) for row in timing) for phase in phases)
    interactions = sum(
        column(row, "active") * (column(row, "cell_interactions") + column(row, "particle_interactions")) for row in timing
    )
    return total - sum(aside), interactions / 1e9, 100 * max(energy), 100 * energy[-1]


def line(results):
    failures = [result for result in results if isinstance(result, str)]
    if failures:
        return failures[0]
    seconds, interactions, largest, last = map(statistics.mean, zip(*results))
    return f"{seconds:.2f} | {interactions:.4g} | {largest:.4f} % | {last:.4f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("-n", type=int, default=200000, help="particles")
    parser.add_argument("--gpu", help="number of the GPU to use; none: the host, one rank")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--intervals", nargs="*", type=int, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--seeds", type=int, default=3, help="realisations")
    parser.add_argument("--small", action="store_true", help="2000 particles of the shortest problem, once: a trial of seconds")
    options = parser.parse_args()
    if options.small:
        options.n, options.cases, options.intervals, options.seeds = 2000, ["m31"], [1, 64], 1
    options.grove = os.path.abspath(options.grove)
    lines = [(name, interval) for name in options.cases for interval in [0, *options.intervals]]
    jobs = [(*each, seed) for each in lines for seed in range(1, options.seeds + 1)]
    print("| problem | interval | seconds | 10^9 interactions | largest error of the energy | at the end |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: run(options, pathlib.Path(work), job), jobs)
        for name, interval in lines:
            print(f"| {name} | {interval or 'tuned'} | {line([next(results) for _ in range(options.seeds)])} |", flush=True)


if __name__ == "__main__":
    main()
