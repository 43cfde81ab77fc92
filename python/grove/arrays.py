"""Arrays with units, and particles as a set of them."""
import re

import numpy as np

from . import _grove

LENGTH, MASS, TIME = (1, 0, 0), (0, 1, 0), (0, 0, 1)
VELOCITY, ACCELERATION, POTENTIAL, DENSITY = (1, 0, -1), (1, 0, -2), (2, 0, -2), (-3, 1, 0)
DIMENSIONS = {"positions": LENGTH, "velocities": VELOCITY, "masses": MASS, "accelerations": ACCELERATION,
              "potentials": POTENTIAL, "internal_energies": POTENTIAL, "densities": DENSITY, "smoothing_lengths": LENGTH}


def plain(value):
    """The same without units, inside of lists, tuples and dictionaries, too."""
    if isinstance(value, Array):
        return value.view(np.ndarray)
    if isinstance(value, (list, tuple)):
        return type(value)(plain(v) for v in value)
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return value


def counted(particles):
    """"1 particle", "2 particles"."""
    return f"{particles} particle{'' if particles == 1 else 's'}"


class Array(np.ndarray):
    """Numbers of numpy that know their unit; parts of it know it, too. Results of arithmetic are plain arrays.

    units: the name of the unit, such as "kpc"; "" with N-body units (G = 1)
    system: the Units it is one of
    is_comoving: the numbers are those of a comoving file, with factors of a, and of h in GADGET's
    """

    def __new__(cls, values, system, dimension, is_comoving=False):
        array = np.asarray(values).view(cls)
        array.system, array.dimension, array.is_comoving = system, dimension, is_comoving
        return array

    def __array_finalize__(self, origin):
        self.system = getattr(origin, "system", None)
        self.dimension = getattr(origin, "dimension", None)
        self.is_comoving = getattr(origin, "is_comoving", False)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return getattr(ufunc, method)(*plain(inputs), **plain(options))

    def __array_function__(self, function, types, inputs, options):
        return function(*plain(inputs), **plain(options))

    def __repr__(self):
        return f"{np.ndarray.__repr__(self)[:-1]}, units={self.units!r})"

    @property
    def units(self):
        return self.system.name(self.dimension) if self.system else ""

    def to(self, unit):
        """The numbers in another unit, such as "pc", "km/s" or "Msun/pc^3". InputError: it is none, or of something
        else, or these are N-body units or of a comoving file."""
        if self.is_comoving:
            raise _grove.InputError(
                f"'{unit}': these are the numbers of a comoving file, with factors of a, and of h in GADGET's: take them with "
                "numpy.asarray(), and the factors from the snapshot's scale_factor and h (docs/cosmology.md)")
        if not unit.strip():
            raise _grove.InputError("'' is not a unit")
        try:
            size = self.system.parse("1 " + unit, self.dimension)
        except _grove.InputError:
            size = _product(unit, self.system, self.dimension)
            if size is None:
                raise
        return plain(self) / size


_FACTOR = r"(/?)\s*([A-Za-z]+)(?:\^(-?[0-9]+))?"


def _product(unit, system, dimension):
    """The size of "Msun/pc^3" in these units; None if it is no product of units, or of something else."""
    if not re.fullmatch(rf"(?:\s*{_FACTOR}\b)+\s*", unit):
        return None
    size, found = 1.0, np.zeros(3, dtype=int)
    for sign, name, power in re.findall(_FACTOR, unit):
        exponent = int(power or 1) * (-1 if sign else 1)
        for base in (LENGTH, MASS, TIME):
            try:
                size *= system.parse("1 " + name, base)**exponent
            except _grove.InputError:
                continue
            found += exponent * np.array(base)
            break
        else:
            return None
    return size if tuple(found) == tuple(dimension) else None


def size_of(system, dimension):
    """Of the unit with this dimension, in CGS."""
    length, mass, time = dimension
    return (system.length_cm**length * system.mass_g**mass * (system.length_cm / system.velocity_cm_s)**time)


def system_of(*arrays):
    """The units of the first of them that has any; None: of none."""
    return next((array.system for array in arrays if getattr(array, "system", None)), None)


def are_comoving(*arrays):
    """True if some are of a comoving file."""
    return any(getattr(array, "is_comoving", False) for array in arrays)


def numbers_in(values, system, name, beside=None):
    """The values of a field in these units; values without units are taken to be in `beside`, or else in them.
    system: None: no units."""
    if values is None:
        return None
    own = getattr(values, "system", None) or beside
    if own is None or system is None or own == system:
        return plain(values)
    if own.is_dimensionless or system.is_dimensionless:
        raise _grove.InputError(f"{name}: N-body units (G = 1) and physical ones cannot be converted: choose the same "
                                f"units; or numpy.asarray({name}) takes the numbers as they are")
    return plain(values) * (size_of(own, DIMENSIONS[name]) / size_of(system, DIMENSIONS[name]))


class Particles:
    """Particles of this rank: positions (N, 3), velocities (N, 3), masses, ids, types, each an array of length N.

    particles[1] are those of type 1, without a copy where the types stand one after the other; particles[mask] or
    particles[index] others. units: the Units of all arrays. With gas internal_energies (per mass), too, which are 0 for
    other types; those of a simulation have densities and smoothing_lengths (radii of support) then.
    """

    def __init__(self, arrays, units, is_comoving=False):
        self.units = units
        self._names = tuple(arrays)
        for name, values in arrays.items():
            dimension = DIMENSIONS.get(name)
            is_bare = dimension is None or isinstance(values, Array)
            setattr(self, name, values if is_bare else Array(values, units, dimension, is_comoving))

    def __len__(self):
        return len(self.masses)

    def __getitem__(self, which):
        if isinstance(which, (int, np.integer)):
            which = self._of_type(int(which))
        return Particles({name: getattr(self, name)[which] for name in self._names}, self.units)

    def _of_type(self, number):
        if not 0 <= number < 6:
            raise IndexError(f"particle type {number}: expected 0 to 5")
        is_ordered = np.all(self.types[:-1] <= self.types[1:])
        return (slice(*np.searchsorted(self.types, [number, number + 1])) if is_ordered else self.types == number)

    def __repr__(self):
        counts = {int(t): int(n) for t, n in zip(*np.unique(self.types, return_counts=True))}
        return f"<{type(self).__name__}: {counted(len(self))}, by type {counts}; {', '.join(self._names)}>"
