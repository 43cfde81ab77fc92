"""Writes HDF5 files as other programs do, with features that Grove's own do not have.

usage: make_foreign_hdf5.py FOLDER
"""
import sys

import h5py
import numpy as np

N = 100
CGS = {"Unit length in cgs (U_L)": 3.0e21, "Unit mass in cgs (U_M)": 2.0e43, "Unit time in cgs (U_t)": 3.0e16}


def header(file, box=0.0):
    counts = np.array([0, N, 0, 0, 0, 0])
    group = file.create_group("Header")
    group.attrs["NumPart_ThisFile"] = counts
    group.attrs["NumPart_Total"] = counts
    group.attrs["BoxSize"] = box
    group.attrs["Time"] = np.array([0.5])  # SWIFT's scalars are arrays of one


def columns():
    x = (np.arange(3 * N).reshape(N, 3) + 0.5) / (3 * N)
    return {"Coordinates": x * [10, 20, 30], "Velocities": x, "Masses": np.full(N, 0.5), "ParticleIDs": np.arange(N) + 1}


def write(path, change=lambda file: None, box=0.0):
    with h5py.File(path, "w") as file:
        header(file, box)
        group = file.create_group("PartType1")
        for name, values in columns().items():
            group[name] = values
        change(file)


def unwritten(**creation):
    def change(file):
        del file["PartType1/Velocities"]
        file["PartType1"].create_dataset("Velocities", (N, 3), dtype="f8", **creation)
    return change


def unfilled(file):
    """As unwritten, but its creator did not want it filled."""
    del file["PartType1/Velocities"]
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(file["PartType1"].id, b"Velocities", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((N, 3)), creation)


def virtual(path, pieces):
    """One file that maps the rows of others, as SWIFT's for snapshots that are spread over several."""
    rows = N // len(pieces)
    for i, piece in enumerate(pieces):
        with h5py.File(piece, "w") as file:
            for name, values in columns().items():
                file["PartType1/" + name] = values[i * rows:(i + 1) * rows]
    with h5py.File(path, "w") as file:
        header(file)
        group = file.create_group("PartType1")
        for name, values in columns().items():
            layout = h5py.VirtualLayout(shape=values.shape, dtype=values.dtype)
            for i, piece in enumerate(pieces):
                layout[i * rows:(i + 1) * rows] = h5py.VirtualSource(
                    piece.rsplit("/", 1)[-1], "PartType1/" + name, shape=(rows,) + values.shape[1:])
            group.create_virtual_dataset(name, layout)


def swift(periodic=True, without=None, shift=0.0):
    def change(file):
        units = file.create_group("Units")
        for name, value in CGS.items():
            if name != without:
                units.attrs[name] = np.array([value])
        file.create_group("Parameters").attrs["InitialConditions:periodic"] = np.bytes_("1" if periodic else "0")
        file["PartType1/Coordinates"][...] += shift
        file["PartType1/DynamicalMasses"] = file["PartType1/Masses"]
        del file["PartType1/Masses"]
    return change


def comoving(file):
    """SWIFT's at redshift 3."""
    swift()(file)
    file.create_group("Cosmology").attrs["Cosmological run"] = np.array([1])
    file["Header"].attrs["Redshift"] = np.array([3.0])


def both(file):
    """SWIFT's units, and GADGET-4's parameters of others."""
    swift()(file)
    for name in ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"):
        file["Parameters"].attrs[name] = 7.0


def main():
    folder = sys.argv[1]
    write(f"{folder}/cold.hdf5", unwritten())
    write(f"{folder}/cold-chunked.hdf5", unwritten(chunks=(10, 3)))
    write(f"{folder}/warm.hdf5", unwritten(fillvalue=0.25))
    write(f"{folder}/unfilled.hdf5", unfilled)
    for name in ("virtual", "torn"):
        virtual(f"{folder}/{name}.hdf5", [f"{folder}/{name}-piece{i}.hdf5" for i in range(2)])
    box = np.array([10.0, 20.0, 30.0])
    write(f"{folder}/swift.hdf5", swift(), box)
    write(f"{folder}/comoving.hdf5", comoving, box)
    write(f"{folder}/outside.hdf5", swift(shift=1.0), box)
    write(f"{folder}/open.hdf5", swift(periodic=False, shift=1.0), box)
    write(f"{folder}/both.hdf5", both, box)
    for letter, name in zip("LMt", CGS):
        write(f"{folder}/without-{letter}.hdf5", swift(without=name), box)
    write(f"{folder}/two-edges.hdf5", box=np.array([1.0, 2.0]))


main()
