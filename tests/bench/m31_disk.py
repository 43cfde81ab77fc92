#!/usr/bin/env python3
"""Scale length and height of a disk, and how they change over the snapshots of a run.

usage: tests/bench/m31_disk.py FOLDER|SNAPSHOT... [--type 2] [--scale 5.4] [--json FILE] [--limit 0.05]

FOLDER: its snapshot_*.hdf5, in order; the first snapshot is what the others are compared with. Lengths are in the
snapshots' unit (kpc in galactic units). Needs h5py and numpy. Exit status 1 where the scale length or the height
leaves --limit.

Columns: the scale length h from the median radius (of an exponential disk 1.678 h) and from a fit of ln Sigma over
1 to 4 --scale, each annulus with the weight of its stars; z0 of sech^2(z / z0) from the median |z| (0.549 z0) within
4 --scale, and from annuli around 1, 2 and 3 --scale. "noise" is the standard deviation that counting gives: a change
below it is none. Radii and heights are about the disk's own centre (median position) and axis (of its angular
momentum), heights moreover about the plane through the stars that are measured: a disk that drifts, tilts or warps
is not taken for one that thickens.
"""

import argparse
import glob
import json
import os
import sys

import h5py
import numpy as np

MEDIAN_RADIUS = 1.6783470  # 1 - (1 + x) exp(-x) = 1/2
MEDIAN_HEIGHT = np.arctanh(0.5)


def read(path, kind):
    """Positions and velocities of a type, over all files of a snapshot, and its time."""
    positions, velocities = [], []
    with h5py.File(path, "r") as first:
        files = int(first["Header"].attrs["NumFilesPerSnapshot"])
        time = float(first["Header"].attrs["Time"])
    for i in range(files):
        part = path if files == 1 else path.replace(".0.hdf5", f".{i}.hdf5")
        with h5py.File(part, "r") as file:
            group = file.get(f"PartType{kind}")
            if group is not None:
                positions.append(group["Coordinates"][:].astype(float))
                velocities.append(group["Velocities"][:].astype(float))
    if not positions:
        sys.exit(f"{path}: no particles of type {kind}")
    return np.concatenate(positions), np.concatenate(velocities), time


def in_plane(position, velocity):
    """Coordinates about the disk's centre, z along its axis."""
    x = position - np.median(position, axis=0)
    v = velocity - np.median(velocity, axis=0)
    z = np.cross(x, v).sum(axis=0)
    z /= np.linalg.norm(z)
    first = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    first /= np.linalg.norm(first)
    return x @ np.array([first, np.cross(z, first), z]).T


def median_error(values, median):
    """Standard deviation of the median over the median: 1 / (2 f sqrt(n)), f the density there, from the middle tenth."""
    low, high = np.quantile(values, [0.45, 0.55])
    return (high - low) / 0.1 / (2 * np.sqrt(len(values))) / median


def fitted_scale(radius, scale):
    """Weighted least squares of ln(stars / area) over annuli: scale length and its relative error."""
    edges = np.linspace(scale, 4 * scale, 25)
    count, _ = np.histogram(radius, edges)
    if count.min() < 5:
        return np.nan, np.nan
    middle, y = 0.5 * (edges[1:] + edges[:-1]), np.log(count / np.diff(edges**2))
    mean, mean_y = np.average(middle, weights=count), np.average(y, weights=count)
    spread = np.sum(count * (middle - mean) ** 2)
    slope = np.sum(count * (middle - mean) * (y - mean_y)) / spread
    return -1 / slope, 1 / (abs(slope) * np.sqrt(spread))


def height(x):
    """z0 and its relative error, about the plane through these stars: a warp or a tilt thickens nothing."""
    if len(x) < 10:
        return np.nan, np.nan
    plane = np.column_stack([np.ones(len(x)), x[:, :2]])
    z = x[:, 2]
    for _ in range(3):
        near = np.abs(z) < 8 * np.median(np.abs(z))
        z = x[:, 2] - plane @ np.linalg.lstsq(plane[near], x[near, 2], rcond=None)[0]
    median = np.median(np.abs(z))
    return median / MEDIAN_HEIGHT, median_error(np.abs(z), median)


def measure(path, options):
    """Name of each quantity: value and relative standard deviation."""
    position, velocity, time = read(path, options.type)
    x = in_plane(position, velocity)
    radius = np.hypot(x[:, 0], x[:, 1])
    median = np.median(radius)
    values = {
        "h": (median / MEDIAN_RADIUS, median_error(radius, median)),
        "h(fit)": fitted_scale(radius, options.scale),
        "z0": height(x[radius < 4 * options.scale]),
    }
    for i in (1, 2, 3):
        annulus = np.abs(radius / options.scale - i) < 0.25
        values[f"z0({i}h)"] = height(x[annulus])
    return time, len(radius), values


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="FOLDER|SNAPSHOT")
    parser.add_argument("--type", type=int, default=2)
    parser.add_argument("--scale", type=float, default=5.4, help="nominal scale length [5.4]")
    parser.add_argument("--limit", type=float, default=0.05, help="largest relative change of h and z0 [0.05]")
    parser.add_argument("--json", help="also write the table to this file")
    options = parser.parse_args()
    paths = []
    for path in options.paths:
        if os.path.isdir(path):
            paths += sorted(glob.glob(f"{path}/snapshot_???.hdf5") + glob.glob(f"{path}/snapshot_???.0.hdf5"))
        else:
            paths.append(path)
    if not paths:
        sys.exit("no snapshots")
    return options, paths


def main():
    options, paths = parse()
    rows, start, worst = [], None, {}
    for path in paths:
        time, count, values = measure(path, options)
        if start is None:
            start = values
            print(f"{count} stars; noise: " + ", ".join(f"{k} {100 * v[1]:.2f} %" for k, v in values.items()))
            print("   time" + "".join(f"{k:>9} {'change':>8}" for k in values))
        changes = {k: v[0] / start[k][0] - 1 for k, v in values.items()}
        print(f"{time:7.4f}" + "".join(f"{v[0]:9.4f} {100 * changes[k]:+7.2f}%" for k, v in values.items()))
        for k, change in changes.items():
            worst[k] = max(worst.get(k, 0), abs(change))
        rows.append({"file": path, "time": time, "stars": count, "change": changes,
                     "value": {k: v[0] for k, v in values.items()}, "noise": {k: v[1] for k, v in values.items()}})
    print("largest change: " + ", ".join(f"{k} {100 * v:.2f} %" for k, v in worst.items()))
    if options.json:
        with open(options.json, "w") as out:
            json.dump(rows, out, indent=1)
    sys.exit(any(worst[k] > options.limit for k in ("h", "z0")))


main()
