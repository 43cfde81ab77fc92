"""Writes snapshots that no command may compute with, each a good one with one fault.

usage: make_bad_snapshots.py GOOD.hdf5 FOLDER    prints "NAME TEXT" per file; TEXT is to be in the message
"""
import shutil
import struct
import sys

import h5py
import numpy as np


def set_first(name, value):
    def change(file):
        file["PartType1"][name][0] = value
    return change


def copy_first(name):
    def change(file):
        file["PartType1"][name][1] = file["PartType1"][name][0]
    return change


def without_particles(file):
    for name in ("NumPart_ThisFile", "NumPart_Total"):
        file["Header"].attrs[name] = np.zeros(6, dtype=np.int64)
    del file["PartType1"]


def without_velocities(file):
    del file["PartType1/Velocities"]


def without_masses(file):
    del file["PartType1/Masses"]


def without_mass(file):
    file["PartType1/Masses"][3] = 0


def without_mass_table(file):
    without_masses(file)
    del file["Header"].attrs["MassTable"]


def comoving(file):
    file["Header"].attrs["Redshift"] = 0.5


FAULTS = {
    "nan-position": (set_first("Coordinates", [np.nan, 0, 0]), "Coordinates"),
    "negative-mass": (set_first("Masses", -1), "Masses"),
    "same-id": (copy_first("ParticleIDs"), "unique"),
    "same-place": (copy_first("Coordinates"), "softening"),
    "missing-dataset": (without_velocities, "PartType1/Velocities"),
    "no-masses": (without_masses, "PartType1/Masses"),
    "no-mass-table": (without_mass_table, "PartType1/Masses"),
    "no-mass": (without_mass, "--tracer"),
    "no-particles": (without_particles, "no particles"),
    "comoving": (comoving, "Redshift"),
}


def binary():
    """GADGET's format 1 with one particle; the records behind the header are in the other byte order."""
    def record(content, order):
        marker = struct.pack(order + "I", len(content))
        return marker + content + marker

    header = struct.pack("<6i", 0, 1, 0, 0, 0, 0) + struct.pack("<6d", 0, 1, 0, 0, 0, 0)
    file = record(header.ljust(256, b"\0"), "<")
    for content in (struct.pack("<3f", 1, 2, 3), struct.pack("<3f", 0, 0, 0), struct.pack("<I", 1)):
        file += record(content, ">")
    return file


def main():
    good, folder = sys.argv[1:]
    for name, (change, text) in FAULTS.items():
        path = f"{folder}/{name}.hdf5"
        shutil.copyfile(good, path)
        with h5py.File(path, "r+") as file:
            change(file)
        print(f"{path} {text}")
    path = f"{folder}/byte-order.dat"
    with open(path, "wb") as file:
        file.write(binary())
    print(f"{path} POS")


main()
