#!/usr/bin/env python3
"""Tuned trees beside trees renewed at fixed intervals: seconds, interactions and errors of the energy.

Interval 1 renews trees in each step, others refit them between. At the default accuracy; on a GPU one run at a time.
"""
import argparse
import concurrent.futures
import os
import pathlib
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
    name, interval = job
    folder = work / f"{name.replace(' ', '-')}-{interval}"
    parameters = CASES[name](options.n) | {
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
    return f"{total - sum(aside):.2f} | {interactions / 1e9:.4g} | {100 * max(energy):.4f} % | {100 * energy[-1]:.4f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("-n", type=int, default=200000, help="particles")
    parser.add_argument("--gpu", help="number of the GPU to use; none: the host, one rank")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--intervals", nargs="*", type=int, default=[1, 2, 4, 8, 16, 32, 64])
    options = parser.parse_args()
    options.grove = os.path.abspath(options.grove)
    jobs = [(name, interval) for name in options.cases for interval in [0, *options.intervals]]
    print("| problem | interval | seconds | 10^9 interactions | largest error of the energy | at the end |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, result in zip(jobs, pool.map(lambda job: run(options, pathlib.Path(work), job), jobs)):
            print(f"| {job[0]} | {job[1] or 'tuned'} | {result} |", flush=True)


if __name__ == "__main__":
    main()
