"""Snapshots, read and written."""
import os

import numpy as np

from . import _grove
from .arrays import Particles, are_comoving, numbers_in, system_of


class Snapshot(Particles):
    """The particles of a file, and what else it says.

    time: in the unit of time of `units`, the scale factor in a comoving file; redshift: 0 in a file that states none
    box_size: edges of the box (3), in the unit of length of `units`, 0 for open space; is_periodic: the file says so of it
    is_comoving: the file says that its numbers are comoving; load() takes them as they stand, those of GADGET with h in their
        units and with velocities sqrt(a) dx/dt. Such arrays convert to no other units.
    h: the Hubble constant over 100 km/s/Mpc, 0 in a file that states none; scale_factor: 1 / (1 + redshift)
    counts: particles by type on all ranks together; path, format, files
    """

    def __init__(self, path, found):
        names = ("positions", "velocities", "masses", "ids", "types", "internal_energies")
        super().__init__({name: found[name] for name in names if name in found}, found["units"], found["is_comoving"])
        self.path = path
        for name in ("time", "redshift", "box_size", "is_periodic", "is_comoving", "h", "counts", "files", "format", "leaf_size", "states_units"):
            setattr(self, name, found[name])

    scale_factor = property(lambda self: 1 / (1 + self.redshift))

    @property
    def time_text(self):
        """The time with a unit, as Grove prints it; of comoving files the redshift."""
        if self.is_comoving:
            return f"z = {self.redshift:g}"
        return self.units.shown(self.time, (0, 0, 1))


def units_named(units):
    """Units, or "galactic" (kpc, 1e10 Msun, km/s), or "none" (G = 1)."""
    if isinstance(units, str):
        known = {"galactic": _grove.Units.galactic, "none": _grove.Units.none}
        if units not in known:
            raise _grove.InputError(f"units: '{units}' is not one of galactic, none; or give grove.Units.of(...)")
        return known[units]()
    return units


def load(path, units=None, unstated="galactic", comoving=False):
    """The particles of a snapshot of any format that Grove knows, or of any file of a set.

    units: to convert to; default: those of the file. unstated: those of files that state none. Either is "galactic",
    "none" (G = 1) or a grove.Units. comoving: take comoving values as they stand, instead of refusing them.

    The array internal_energies is there if all particles of type 0 have one; it is 0 for other types.

    On several ranks each gets an equal share of each type, in the order of the file. InputError: no such file, or it
    cannot be used. The arrays lie in the memory that the file was read into.
    """
    path = os.fspath(path)
    found = _grove.load(path, units_named(unstated), None if units is None else units_named(units), comoving)
    return Snapshot(path, found)


def write(path, positions, velocities, masses, types=None, ids=None, units="galactic", time=0.0, files=1,
          overwrite=False, *, internal_energies=None):
    """Writes a snapshot (HDF5, GADGET-4's layout), such as initial conditions made with numpy.

    positions, velocities (N, 3), masses (N): in these units; arrays with units of their own are converted, and those without
        are taken to be in the units of the others. types: 0 to
    5, default 1. ids: unique over all ranks; default: counted from 1. internal_energies (N): per mass, of gas (type 0),
    0 for other types; default: particles of type 0 have none. InputError: lengths that do not fit, ids that occur twice,
    internal energies that gas cannot have, a file that exists (unless overwrite).
    """
    units = units_named(units)
    if types is None and internal_energies is not None:
        raise _grove.InputError("types: give them with internal_energies, 0 for gas; all are of type 1 by default")
    fields = {"positions": positions, "velocities": velocities, "masses": masses, "internal_energies": internal_energies}
    if are_comoving(*fields.values()):
        raise _grove.InputError("arrays of a comoving file, which this would not be: take their numbers with numpy.asarray(), "
                                "without factors of a and h")
    beside = system_of(*fields.values())
    numbers = {name: numbers_in(values, units, name, beside) for name, values in fields.items()}
    _grove.write(os.fspath(path), **numbers,
                 types=None if types is None else np.asarray(types), ids=None if ids is None else np.asarray(ids),
                 units=units, time=time, files=files, overwrite=overwrite)
