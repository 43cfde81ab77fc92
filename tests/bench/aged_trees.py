#!/usr/bin/env python3
"""Errors of trees that are refitted, beside new ones: their 99th percentile, and how far they follow the motion.

A merger of two galaxies goes a few steps with all particles active, in trees of a given age; its accelerations are compared with direct sums
of the same particles. Prints means over snapshots, by type (1: halo, 2: disk): the correlation of errors with velocities in the frame of
each galaxy, with its standard error, and the 99th percentile. On the host.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np

STEP = 0.02


def by_id(group, name):
    return group[name][:][np.argsort(group["ParticleIDs"][:])].astype(float)


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compared(snapshot, exact):
    """Correlation and 99th percentile of one type: a PartType group as it was walked, and as summed directly."""
    x, v, a = (by_id(snapshot, name) for name in ("Coordinates", "Velocities", "Acceleration"))
    error = a - by_id(exact, "Acceleration")
    side = x[:, 0] > 0  # the galaxies have not met yet
    own = v - np.where(side[:, None], v[side].mean(0), v[~side].mean(0))
    correlation = (own * error).sum() / np.sqrt((error**2).sum() * (own**2).sum())
    relative = np.linalg.norm(error, axis=1) / np.linalg.norm(a - error, axis=1)
    return correlation, np.percentile(relative, 99)


def figures(options, work, age):
    """[snapshot][type][correlation, percentile] at this age of the trees: steps since they were new."""
    softening = 0.07 * (1e5 / options.n) ** (1 / 3)
    times = [STEP * (age + (age + 1) * k) for k in range(1, options.snapshots + 1)]
    folder, file = work / f"age-{age}", work / f"age-{age}.yml"
    file.write_text(
        f"units: {{system: none}}\n"
        f"initial_conditions: {{model: merger, n: {options.n}, disk_fraction: 0.1, seed: 1}}\n"
        f"gravity: {{softening: {softening:.6g}, delta: {options.delta}}}\n"
        f"time: {{end: {times[-1] + STEP:.6g}, step: {STEP}, steps: shared}}\n"
        f"tuning: {{rebuild_interval: {age + 1}}}\n"
        f"output: {{folder: {folder}, render: false, times: {[round(t, 6) for t in times]}, "
        "fields: [Coordinates, Velocities, Masses, ParticleIDs, Acceleration]}\n"
    )
    run(options.grove, "run", file, "--backend", "kokkos")
    result = []
    for snapshot in sorted(folder.glob("snapshot*.hdf5")):
        exact = work / "exact.hdf5"
        exact.unlink(missing_ok=True)
        run(options.grove, "force", snapshot, "--softening", f"{softening:.6g}", "--direct", "--audit", 0, "-o", exact)
        with h5py.File(snapshot) as walked, h5py.File(exact) as summed:
            result.append([compared(walked[name], summed[name]) for name in ("PartType1", "PartType2")])
    return np.array(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("-n", type=int, default=50000, help="particles")
    parser.add_argument("--delta", type=float, default=0.001)
    parser.add_argument("--ages", nargs="*", type=int, default=[0, 7], help="steps since the trees were new")
    parser.add_argument("--snapshots", type=int, default=6)
    parser.add_argument("--small", action="store_true", help="3000 particles, 2 snapshots: a trial of seconds")
    options = parser.parse_args()
    if options.small:
        options.n, options.snapshots = 3000, 2
    options.grove = os.path.abspath(options.grove)
    print("| age | type | correlation with the velocity | error, 99th percentile |")
    print("|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as work:
        for age in options.ages:
            values = figures(options, pathlib.Path(work), age)
            scatter = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            for kind in (0, 1):
                (correlation, percentile), error = values.mean(axis=0)[kind], scatter[kind][0]
                print(f"| {age} | {kind + 1} | {correlation:.3f} +- {error:.3f} | {100 * percentile:.3f} % |", flush=True)


if __name__ == "__main__":
    main()
