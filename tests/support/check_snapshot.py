"""Opens snapshots as a reader of GADGET's layout does and checks what Grove's tests wrote (support/particles.hpp).

usage: check_snapshot.py N FILE...    exits with 0 if all is right
"""
import sys

import h5py
import numpy as np

UNITS = {"UnitLength_in_cm": 3.085678e21, "UnitMass_in_g": 1.989e43, "UnitVelocity_in_cm_per_s": 1e5}
# length, mass and velocity exponents, size in CGS, the unit in words, shape per particle, numbers
DATASETS = {
    "Coordinates": (1, 0, 0, 3.085678e21, "U_L^1 ", (3,), "f8"),
    "Velocities": (0, 0, 1, 1e5, "U_V^1 ", (3,), "f8"),
    "Masses": (0, 1, 0, 1.989e43, "U_M^1 ", (), "f8"),
    "ParticleIDs": (0, 0, 0, 1.0, "a number", (), "u8"),
    "Acceleration": (-1, 0, 2, 1e10 / 3.085678e21, "U_L^-1 U_V^2 ", (3,), "f4"),
    "Potential": (0, 0, 2, 1e10, "U_V^2 ", (), "f4"),
}
TYPES = {1, 2, 4}


def expected(ids, k):
    return np.sin(ids.astype(float) * (1.37 + 0.71 * k))


def expected_types(ids):
    return np.where(ids % 7 == 0, 4, np.where(ids % 3 == 0, 2, 1))


def check(condition, what):
    if not condition:
        sys.exit(f"check_snapshot.py: {what}")


def check_header(header, n_files, n):
    for name in ("Time", "Redshift", "BoxSize", "NumFilesPerSnapshot", "Omega0", "OmegaLambda", "HubbleParam",
                 "Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback",
                 "Flag_Entropy_ICs", "Flag_DoublePrecision"):
        check(np.shape(header[name]) == (), f"Header/{name} is not a scalar")
    check(header["Time"] == 1.25, "wrong time")
    check(header["Redshift"] == 0, "wrong redshift")
    check(header["NumFilesPerSnapshot"] == n_files, "wrong number of files")
    check(not np.any(header["MassTable"]), "a mass table beside Masses")
    check(np.isclose(header["Time_GYR"], 1.25 * 3.085678 / 3.15576, rtol=1e-14), "wrong Time_GYR")
    total = header["NumPart_Total"] + (header["NumPart_Total_HighWord"].astype(np.uint64) << np.uint64(32))
    counts = np.bincount(expected_types(np.arange(1, n + 1)), minlength=6)
    check(np.array_equal(total, counts), f"wrong total counts {total}")


def check_dataset(dataset, name, count):
    length, mass, velocity, cgs, units, shape, numbers = DATASETS[name]
    check(dataset.shape == (count,) + shape, f"{name} has shape {dataset.shape}")
    check(dataset.dtype == np.dtype(numbers), f"{name} has type {dataset.dtype}")
    powers = {"a_scaling": 0, "h_scaling": 0, "length_scaling": length, "mass_scaling": mass,
              "velocity_scaling": velocity}
    for power, value in powers.items():
        check(dataset.attrs[power] == value, f"{name}: wrong {power}")
    check(np.isclose(dataset.attrs["to_cgs"], cgs, rtol=1e-14), f"{name}: wrong to_cgs")
    # The same as EAGLE says it, and pynbody reads it.
    check(dataset.attrs["CGSConversionFactor"] == dataset.attrs["to_cgs"], f"{name}: wrong CGSConversionFactor")
    for eagle, gadget in (("aexp-scale-exponent", "a_scaling"), ("h-scale-exponent", "h_scaling")):
        check(dataset.attrs[eagle] == dataset.attrs[gadget], f"{name}: wrong {eagle}")
    check(dataset.attrs["VarDescription"].decode() == units, f"{name}: wrong VarDescription")


def equal(found, expected, scale, rounding):
    """Arguments of sines are up to 1e4, and rounded to 1e-16 of that; floats besides by 2^-24 of the scale."""
    return np.allclose(found, expected, rtol=0, atol=scale * (1e-11 + rounding))


def check_values(group, ids, type_):
    check(np.all(np.diff(ids.astype(np.int64)) > 0), "ids do not increase")
    check(np.all(expected_types(ids) == type_), "particles of another type")
    single = 2.0**-24
    vectors = {"Coordinates": (0, 10, 0), "Velocities": (3, 1, 0), "Acceleration": (7, 1, single)}
    for name, (first, scale, rounding) in vectors.items():
        for axis in range(3):
            check(equal(group[name][:, axis], scale * expected(ids, first + axis), scale, rounding), f"wrong {name}")
    check(equal(group["Masses"], 0.5 + 0.25 * expected(ids, 6), 1, 0), "wrong Masses")
    check(equal(group["Potential"], expected(ids, 10), 1, single), "wrong Potential")


def check_bounds(grove, n):
    ids = np.arange(1, n + 1)
    positions = np.stack([10 * expected(ids, axis) for axis in range(3)])
    for name, bounds in (("LowestCoordinates", positions.min(axis=1)), ("HighestCoordinates", positions.max(axis=1))):
        check(equal(grove[name], bounds, 10, 0), f"wrong Grove/{name}: {grove[name]}")


def main():
    n, paths = int(sys.argv[1]), sys.argv[2:]
    seen = []
    for path in paths:
        with h5py.File(path, "r") as file:
            check_header(file["Header"].attrs, len(paths), n)
            # yt, pynbody and readers of GADGET-4's files look for them here.
            for group in ("Units", "Header", "Parameters"):
                for name, value in UNITS.items():
                    check(file[group].attrs[name] == value, f"wrong {group}/{name}")
            for name in ("BoxSize", "Time_GYR", "HubbleParam", "Omega0", "OmegaLambda"):
                check(file["Parameters"].attrs[name] == file["Header"].attrs[name], f"wrong Parameters/{name}")
            check("Config" not in file, "a hint for yt where it takes the units to be what they are")
            check_bounds(file["Grove"].attrs, n)
            constant = 6.6743e-8 * 1.989e43 / (3.085678e21 * 1e10)
            check(np.isclose(file["Units"].attrs["GravityConstantInternal"], constant, rtol=1e-14),
                  "wrong constant of gravity")
            for type_ in TYPES:
                group, count = file[f"PartType{type_}"], file["Header"].attrs["NumPart_ThisFile"][type_]
                check(set(group) == set(DATASETS), f"datasets {sorted(group)}")
                for name in DATASETS:
                    check_dataset(group[name], name, count)
                check_values(group, group["ParticleIDs"][:], type_)
                seen.append(group["ParticleIDs"][:])
    check(np.array_equal(np.sort(np.concatenate(seen)), np.arange(1, n + 1)), "not every id once")


main()
