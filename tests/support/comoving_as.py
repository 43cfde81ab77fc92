"""Writes a comoving snapshot of Grove as other programs would, from the descriptions of their formats alone, or compares two.

usage: comoving_as.py gadget-little|gadget-big|swift IN OUT
       comoving_as.py compare FIRST SECOND      the largest difference of coordinates, in mean distances of particles
"""
import struct
import sys

import h5py
import numpy as np


def read(path):
    """The header's and parameters' attributes, and columns of type 1 in the order of the ids."""
    with h5py.File(path, "r") as file:
        attributes = dict(file["Parameters"].attrs) | dict(file["Header"].attrs)
        group = file["PartType1"]
        order = np.argsort(group["ParticleIDs"][()])
        columns = {name: group[name][()][order] for name in ("Coordinates", "Velocities", "Masses", "ParticleIDs")}
    return attributes, columns


def write_gadget(path, order, attributes, columns):
    """Format 2 with numbers of 64 bits; order: "<" or ">", that of the bytes."""
    count = len(columns["Masses"])
    header = struct.pack(order + "6i6ddd2i6i2i4d", 0, count, 0, 0, 0, 0, *6 * [0.0], attributes["Time"], attributes["Redshift"], 0, 0,
                         0, count, 0, 0, 0, 0, 0, 1, attributes["BoxSize"], attributes["Omega0"], attributes["OmegaLambda"],
                         attributes["HubbleParam"]).ljust(256, b"\0")

    def block(label, contents):
        size = len(contents)
        return struct.pack(order + "i4s2i", 8, label, size + 8, 8) + struct.pack(order + "i", size) + contents + struct.pack(order + "i", size)

    with open(path, "wb") as file:
        file.write(block(b"HEAD", header))
        for label, name, kind in ((b"POS ", "Coordinates", "f8"), (b"VEL ", "Velocities", "f8"), (b"ID  ", "ParticleIDs", "u4"),
                                  (b"MASS", "Masses", "f8")):
            file.write(block(label, columns[name].astype(order + kind).tobytes()))


def write_swift(path, attributes, columns):
    """Lengths and masses without h, velocities a dx/dt (GADGET's are sqrt(a) dx/dt)."""
    h, a = attributes["HubbleParam"], attributes["Time"]
    centimetres, grams, speed = (attributes[f"Unit{name}"] for name in ("Length_in_cm", "Mass_in_g", "Velocity_in_cm_per_s"))
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = header["NumPart_Total"] = np.array([0, len(columns["Masses"]), 0, 0, 0, 0, 0], np.uint32)
        header["NumFilesPerSnapshot"] = np.array([1], np.int32)
        header["BoxSize"] = np.array(3 * [attributes["BoxSize"] / h])
        header["Time"], header["Redshift"] = np.array([0.0]), np.array([attributes["Redshift"]])
        file.create_group("Cosmology").attrs["Cosmological run"] = np.array([1])
        file.create_group("Parameters").attrs["InitialConditions:periodic"] = np.bytes_("1")
        units = file.create_group("Units").attrs
        units["Unit length in cgs (U_L)"], units["Unit mass in cgs (U_M)"] = np.array([centimetres]), np.array([grams])
        units["Unit time in cgs (U_t)"] = np.array([centimetres / speed])
        group = file.create_group("PartType1")
        group["Coordinates"] = columns["Coordinates"] / h
        group["Velocities"] = columns["Velocities"] * np.sqrt(a)
        group["Masses"] = columns["Masses"] / h
        group["ParticleIDs"] = columns["ParticleIDs"]


def compare(first, second):
    (attributes, one), (_, other) = read(first), read(second)
    if not np.array_equal(one["ParticleIDs"], other["ParticleIDs"]):
        sys.exit("other ids")
    edge = attributes["BoxSize"]
    apart = (one["Coordinates"] - other["Coordinates"] + edge / 2) % edge - edge / 2
    print(f"{np.abs(apart).max() / edge * len(apart)**(1 / 3):.3e}")


def main():
    kind, first, second = sys.argv[1:]
    if kind == "compare":
        compare(first, second)
    elif kind == "swift":
        write_swift(second, *read(first))
    else:
        write_gadget(second, {"gadget-little": "<", "gadget-big": ">"}[kind], *read(first))


main()
