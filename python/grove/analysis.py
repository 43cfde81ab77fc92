"""What is measured of particles. Sums are exact, so the same on any number of ranks; every call is collective."""
from dataclasses import dataclass

import numpy as np

from . import _grove
from .arrays import LENGTH, MASS, VELOCITY, Array, are_comoving, numbers_in, plain, system_of
from .gravity import forces, require_numbers, softening_by_type


class _Sums:
    """Sums of terms over all ranks: terms are rounded to multiples of a unit of which 2^52 are more than any sum, so
    the order of adding makes no difference, and a sum of N terms is off by N 2^-53 of what the largest would add up to.
    """

    def __init__(self, terms):
        self.terms = np.asarray(terms, dtype=float)
        count, bad = _grove.sum(np.array([len(self.terms), np.count_nonzero(~np.isfinite(self.terms))]))
        if bad:
            raise _grove.InputError(f"{bad} of {count} particles have masses or positions that are not finite")
        largest = _grove.max(float(np.max(np.abs(self.terms), initial=0.0)))
        self.exponent = 52 - np.frexp(largest * max(1, count))[1] if largest > 0 else 0
        self.whole = np.rint(np.ldexp(self.terms, self.exponent))

    def number(self, whole):
        return np.ldexp(np.asarray(whole, dtype=float), -self.exponent)

    def total(self):
        return float(self.number(_grove.sum(np.array([int(self.whole.sum())])))[0])

    def by_bin(self, bins, count):
        """bins: of each term, 0 to count - 1."""
        own = np.bincount(bins, weights=self.whole, minlength=count)[:count]
        return self.number(_grove.sum(own.astype(np.int64)))


def centre_of_mass(positions, masses):
    """Of all ranks together."""
    given = (positions, masses)
    positions, masses = np.asarray(plain(positions), dtype=float), np.asarray(plain(masses), dtype=float)
    mass = _Sums(masses).total()
    if not mass > 0:
        raise _grove.InputError("masses: all are zero, so there is no centre of mass")
    place = np.array([_Sums(masses * positions[:, axis]).total() / mass for axis in range(3)])
    return _with_units(place, given, LENGTH)


def _with_units(values, arrays, dimension):
    """Values with the units of the arrays that they come from, if these have some."""
    system = system_of(*arrays)
    return Array(values, system, dimension, are_comoving(*arrays)) if system else values


def _place(positions, masses, centre):
    """A centre in the units of the positions; None: that of mass."""
    if centre is None:
        return centre_of_mass(positions, masses)
    return np.asarray(numbers_in(centre, system_of(positions, masses), "positions"), dtype=float)


def _radii(positions, masses, centre):
    centre = _place(positions, masses, centre)
    return np.sqrt(np.sum((np.asarray(plain(positions), dtype=float) - centre)**2, axis=1))


def _enclosing(radii, masses, fractions):
    """Smallest radii of particles that hold fractions of the mass: bisection over the bits of the radius, whose order is
    that of the numbers."""
    order = np.argsort(radii)
    bits = radii[order].view(np.int64)
    enclosed = np.concatenate(([0], np.cumsum(_Sums(masses).whole[order]).astype(np.int64)))
    total = _grove.sum(enclosed[-1:])[0]
    if not total > 0:
        raise _grove.InputError("masses: all are zero, so no radius holds a part of them")
    wanted = np.array([int(np.ceil(f * total)) for f in fractions], dtype=np.int64)
    low, high = np.full(len(wanted), -1), np.full(len(wanted), np.array(np.inf).view(np.int64))
    while np.any(high - low > 1):
        middle = low + (high - low) // 2
        is_enough = _grove.sum(enclosed[np.searchsorted(bits, middle, side="right")]) >= wanted
        high, low = np.where(is_enough, middle, high), np.where(is_enough, low, middle)
    return high.view(np.float64)


def lagrange_radii(positions, masses, fractions=(0.1, 0.5, 0.9), centre=None):
    """Radii about a point that hold these fractions of the mass. centre: default: the centre of mass."""
    fractions = np.atleast_1d(np.asarray(fractions, dtype=float))
    if not np.all((fractions > 0) & (fractions <= 1)):
        raise _grove.InputError(f"fractions: {fractions.tolist()}; expected numbers from 0 to 1")
    found = _enclosing(_radii(positions, masses, centre), plain(masses), fractions)
    return _with_units(found, (positions, masses), LENGTH)


@dataclass
class Profile:
    """By spherical shell: radii (the middle, geometrically), density, counts; mass: inside of its outer edge; edges."""
    radii: np.ndarray
    density: np.ndarray
    mass: np.ndarray
    counts: np.ndarray
    edges: np.ndarray


def profile(positions, masses, bins=32, centre=None):
    """Density of spherical shells about a point: a Profile.

    bins: so many, of equal width in log r from the radius of 0.1 % of the mass to that of 99.9 %, or their edges.
    centre: default: the centre of mass.
    """
    given, system = (positions, masses), system_of(positions, masses)
    radii, masses = _radii(positions, masses, centre), numbers_in(masses, system, "masses")
    if np.ndim(bins) == 0:
        first, last = _enclosing(radii, masses, [0.001, 0.999])
        if not 0 < first < last:
            raise _grove.InputError("bins: the particles are too few, or too close, to choose radii; give edges")
        bins = np.geomspace(first, last, int(bins) + 1)
    edges = np.asarray(numbers_in(bins, system, "positions"), dtype=float)
    if edges.ndim != 1 or len(edges) < 2 or not (edges[0] >= 0 and np.all(np.diff(edges) > 0)):
        raise _grove.InputError("bins: expected a number of shells, or edges that increase from 0 or more")
    shell = np.searchsorted(edges, radii, side="right")  # 0: inside of all
    by_shell = _Sums(masses).by_bin(shell, len(edges) + 1)
    counts = _grove.sum(np.bincount(shell, minlength=len(edges) + 1).astype(np.int64))
    volume = 4 / 3 * np.pi * np.diff(edges**3)
    middle = np.where(edges[:-1] > 0, np.sqrt(edges[:-1] * edges[1:]), edges[1:] / 2)
    return Profile(_with_units(middle, given, LENGTH), _with_units(by_shell[1:-1] / volume, given, (-3, 1, 0)),
                   _with_units(np.cumsum(by_shell)[1:-1], given, MASS), counts[1:-1], _with_units(edges, given, LENGTH))


@dataclass
class RotationCurve:
    """radii: in the plane; speed: of circular orbits there."""
    radii: np.ndarray
    speed: np.ndarray


def rotation_curve(positions, masses, radii=None, centre=None, axis=(0, 0, 1), azimuths=32, **options):
    """The circular velocity sqrt(R |a_R|) in the plane through a point, across an axis: a RotationCurve.

    The acceleration is that of forces() on test particles without mass on rings, averaged over the azimuths, so disks
    and bars count as what they are. radii: default: 32, to the one of 90 % of the mass. options: of forces().
    """
    given, system = (positions, masses), system_of(positions, masses)
    centre = _place(positions, masses, centre)
    if radii is None:
        radii = np.linspace(0, plain(lagrange_radii(positions, masses, 0.9, centre))[0], 33)[1:]
    radii = np.atleast_1d(np.asarray(numbers_in(radii, system, "positions"), dtype=float))
    if not np.all(radii >= 0):
        raise _grove.InputError("radii: expected numbers of at least 0")
    normal = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    first = np.cross(normal, [1, 0, 0] if abs(normal[0]) < 0.9 else [0, 1, 0])
    first /= np.linalg.norm(first)
    angles = 2 * np.pi * np.arange(azimuths) / azimuths
    outward = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(normal, first))
    rings = (centre + radii[:, None, None] * outward).reshape(-1, 3)
    if _grove.rank() > 0:
        rings = rings[:0]
    own = np.asarray(plain(positions), dtype=float)
    types = options.pop("types", None)
    types = np.ones(len(own), dtype=int) if types is None else np.asarray(types)
    is_there = _grove.sum(np.array([np.count_nonzero(types == t) for t in range(6)]))
    if np.all(is_there > 0):
        raise _grove.InputError("types: all six have particles; test particles need a type of their own")
    ring_type = int(np.argmin(is_there > 0))
    masses = numbers_in(masses, system, "masses")
    softening = options.pop("softening", None)
    require_numbers(given, softening=softening)
    softening = softening_by_type(softening, system)
    if softening is None:  # that of the particles, however many rings there are
        softening = [_grove.suggested_softening(own, masses)] * 6
    # Two particles interact with the larger of their lengths.
    softening[ring_type] = min((length for length in softening if length is not None), default=None)
    options.setdefault("audit", 0)
    ids = options.pop("ids", None)
    if ids is not None:
        raise _grove.InputError("ids: rotation_curve() counts the particles itself")
    found = forces(_with_units(np.concatenate((own, rings)), given, LENGTH),
                   np.concatenate((masses, np.zeros(len(rings)))), softening=softening,
                   types=np.concatenate((types, np.full(len(rings), ring_type))), tracers=(ring_type,), **options)
    inward = np.zeros((len(radii), azimuths))
    if len(rings):
        accelerations = plain(found.accelerations)[len(own):].astype(float).reshape(len(radii), azimuths, 3)
        inward = -np.sum(accelerations * outward, axis=2)
    mean = _grove.sum(inward.mean(axis=1).view(np.int64)).view(np.float64)  # other ranks add zeros
    return RotationCurve(_with_units(radii, given, LENGTH),
                         _with_units(np.sqrt(radii * np.maximum(mean, 0)), given, VELOCITY))
