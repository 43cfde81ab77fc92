#!/usr/bin/env python3
"""Whether two snapshots hold the same particles, bit for bit, in any order. Exit status 0 or 1.

    same_snapshots.py FIRST SECOND
"""

import sys

import h5py
import numpy as np


def fields(path):
    """Every dataset of each type of particles, in the order of the ids."""
    found = {}
    with h5py.File(path, "r") as file:
        found["time"] = file["Header"].attrs["Time"]
        for group in (name for name in file if name.startswith("PartType")):
            order = np.argsort(file[group]["ParticleIDs"][:])
            for name in file[group]:
                found[f"{group}/{name}"] = file[group][name][:][order]
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    first, second = (fields(path) for path in sys.argv[1:])
    different = sorted(set(first) ^ set(second))
    different += [name for name in first if name in second and
                  np.asarray(first[name]).tobytes() != np.asarray(second[name]).tobytes()]
    if different:
        sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ in: {', '.join(different)}")
    print(f"the same: {', '.join(sorted(first))}")


if __name__ == "__main__":
    main()
