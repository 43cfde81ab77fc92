#!/usr/bin/env python3
"""The table of docs/measurements/accuracy.md on what `accuracy` gives: the energy error of a cold collapse, of spheres in
equilibrium over 20 crossing times and of a merger, and angular momentum and thickness of a disk over 1 Gyr.

Nothing but the model, its softening, the longest step and the end is set; all else is Grove's default.
"""
import argparse
import concurrent.futures
import csv
import itertools
import math
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np


def sphere(model, softening, step, half_mass_radius):
    """20 crossing times r_h / v_c(r_h), with G = M = 1: v_c^2 = (1/2) / r_h."""
    crossing = math.sqrt(2 * half_mass_radius**3)
    return lambda n: {
        "units": "{system: none}",
        "initial_conditions": f"{{model: {model}, n: {n}}}",
        "gravity": f"{{softening: {softening * (2e4 / n) ** (1 / 3):.4g}}}",
        "time": f"{{end: {20 * crossing:.6g}, step: {step}}}",
    }


def cold(n):
    return {
        "units": "{system: none}",
        "initial_conditions": f"{{model: cold-sphere, n: {n}}}",
        "gravity": "{softening: 0.02}",
        "time": "{end: 2, step: 0.02}",
    }


def merger(n):
    """The main job to behind the first passage."""
    return {
        "units": "{system: none}",
        "initial_conditions": f"{{model: merger, n: {n}, disk_fraction: 0.1}}",
        "gravity": f"{{softening: {0.07 * (1e5 / n) ** (1 / 3):.4g}}}",
        "time": "{end: 20.48, step: 0.32}",
    }


def milky_way(n):
    return {
        "initial_conditions": f"{{model: disk-galaxy, n: {n}, mass: 1e12 Msun, scale: 20 kpc, concentration: 10, "
        "disk_scale: 3 kpc}",
        "gravity": f"{{softening: {0.1 * (1e5 / n) ** (1 / 3):.4g} kpc}}",
        "time": "{end: 1 Gyr, step: 5 Myr}",
    }


# name: parameters of N particles, and which N by default.
PROBLEMS = {
    "cold collapse": (cold, (20000, 200000, 1000000)),
    "plummer": (sphere("plummer", 0.03, 0.25, 1.3048), (20000, 1000000)),
    "hernquist": (sphere("hernquist", 0.04, 0.25, 2.4142), (20000, 1000000)),
    "nfw": (sphere("nfw", 0.1, 1, 5.7), (20000, 1000000)),
    "merger": (merger, (20000, 1000000)),
    "milky way": (milky_way, (100000, 1000000)),
}


def column(row, name):
    """The value of a column, whatever unit its header names."""
    return next((float(v) if v else math.nan) for k, v in row.items() if k.split(" [")[0] == name)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def disk_of(snapshot):
    """Angular momentum about z by type; rms height and vertical velocity dispersion of the disk (type 2)."""
    with h5py.File(snapshot) as file:
        momentum = {}
        for name in (f"PartType{t}" for t in range(6)):
            if name not in file:
                continue
            x, v, m = (file[name][key][:] for key in ("Coordinates", "Velocities", "Masses"))
            momentum[name] = float((m * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])).sum())
            if name == "PartType2":
                inside = np.hypot(x[:, 0], x[:, 1]) < 9  # three scale lengths
                height, dispersion = x[inside, 2].std(), v[inside, 2].std()
    return momentum, height, dispersion


def disk_figures(folder):
    first, last = (disk_of(sorted(folder.glob("snapshot_*.hdf5"))[i]) for i in (0, -1))
    disk = abs(first[0]["PartType2"])
    lost = (first[0]["PartType2"] - last[0]["PartType2"]) / disk
    gained = sum(last[0][t] - first[0][t] for t in last[0] if t != "PartType2") / disk
    total = sum(last[0].values()) / sum(first[0].values()) - 1
    return (
        f"Lz {100 * total:+.3f} %; disk loses {100 * lost:.2f} %, rest gains {100 * gained:.2f} %; "
        f"height {first[1]:.3f} -> {last[1]:.3f} kpc, sigma_z {first[2]:.1f} -> {last[2]:.1f} km/s"
    )


def figures(folder, name):
    energy, timing = rows_of(folder / "energy.csv"), rows_of(folder / "timing.csv")
    errors = [abs(column(row, "energy_error")) for row in energy]
    work = sum(
        float(row["active"]) * (float(row["cell_interactions"]) + float(row["particle_interactions"])) for row in timing[1:]
    )
    seconds = sum(column(row, "total") for row in timing)
    more = disk_figures(folder) if name == "milky way" else ""
    return f"{100 * max(errors):.3f} % | {100 * errors[-1]:.3f} % | {len(timing) - 1} | {work / 1e9:.4g} | {seconds:.0f} | {more} |"


def start(grove, parameters, gpu, arguments):
    """A run on this GPU, or on the host where there is none."""
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1")
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = gpu
    return subprocess.Popen(
        [grove, "run", str(parameters), "--backend", "kokkos" if gpu is None else "cuda", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(options, work, slots, job):
    (name, n, accuracy) = job
    folder = work / f"{name.replace(' ', '-')}-{n}-{accuracy}"
    parameters = PROBLEMS[name][0](n)
    parameters["output"] = f"{{folder: {folder}, render: false, times: [{parameters['time'].split('end: ')[1].split(',')[0]}]}}"
    file = work / f"{folder.name}.yml"
    if name == "milky way":
        parameters["output"] = f"{{folder: {folder}, render: false, every: 1 Gyr}}"
    file.write_text(f"accuracy: {accuracy}\n" + "".join(f"{key}: {value}\n" for key, value in parameters.items()))
    gpu = slots.get()
    try:
        if time.monotonic() > options.until:
            return "not started |"
        process = start(options.grove, file, gpu, ["--resume", "auto"])
        try:
            _, errors = process.communicate(timeout=options.until - time.monotonic())
        except subprocess.TimeoutExpired:
            process.terminate()  # writes a checkpoint
            process.communicate()
            timing = folder / "timing.csv"
            return f"stopped after step {column(rows_of(timing)[-1], 'step'):.0f} |" if timing.exists() else "stopped |"
        if process.returncode != 0:
            return "failed: " + errors.strip().splitlines()[-1]
        return figures(folder, name)
    finally:
        slots.put(gpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("--gpus", default="", help="numbers of the GPUs to use, like 0,1; none: the host")
    parser.add_argument("--each", type=int, default=1, help="runs at once on each GPU, or on the host")
    parser.add_argument("--accuracy", nargs="*", default=["fast", "standard", "high"])
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--most", type=int, default=10**9, help="no run of more particles than these")
    parser.add_argument("--seconds", type=float, default=1e6, help="stop all runs then")
    parser.add_argument("--folder", help="where runs are kept: stopped ones go on when started again")
    options = parser.parse_args()
    options.grove = os.path.abspath(options.grove)
    options.until = time.monotonic() + options.seconds
    slots = queue.Queue()
    gpus = options.gpus.split(",") if options.gpus else [None]
    for gpu in gpus * options.each:
        slots.put(gpu)
    jobs = [
        (name, n, accuracy)
        for name, accuracy in itertools.product(options.problems, options.accuracy)
        for n in PROBLEMS[name][1]
        if n <= options.most
    ]
    longest_first = sorted(jobs, key=lambda job: (-job[1], ["high", "standard", "fast"].index(job[2])))
    with tempfile.TemporaryDirectory() as own, concurrent.futures.ThreadPoolExecutor(slots.qsize()) as pool:
        work = pathlib.Path(options.folder or own).absolute()
        work.mkdir(parents=True, exist_ok=True)
        results = {job: pool.submit(run, options, work, slots, job) for job in longest_first}
        for done in concurrent.futures.as_completed(results.values()):
            job = next(key for key, value in results.items() if value is done)
            print(*job, done.result(), file=sys.stderr, flush=True)
        print("| problem | N | accuracy | largest error of the energy | at the end | steps | 10^9 interactions | seconds | disk |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, n, accuracy in sorted(jobs, key=lambda job: (options.problems.index(job[0]), job[1], options.accuracy.index(job[2]))):
            print(f"| {name} | {n} | {accuracy} | {results[name, n, accuracy].result()}")


if __name__ == "__main__":
    main()
