"""Rotation curve and density profile by type of the last snapshot in a folder; needs numpy, and h5py to read it."""

import math
import re

import numpy

NAMES = ["gas", "halo", "disk", "bulge", "stars", "boundary"]  # of the types of particles
STARS = (2, 3, 4)
MOST_PARTICLES = 2_000_000  # of a type; of more every k-th is read, with k times its mass
FEWEST = 50  # particles of a type that a curve is drawn of, and inside of its first radius

# Sizes in CGS.
LENGTHS = {"au": 1.495978707e13, "pc": 3.085678e18, "kpc": 3.085678e21, "Mpc": 3.085678e24}
SOLAR_MASS, KM_PER_S = 1.989e33, 1e5


class Particles:
    """Of one type: positions and velocities, shape (n, 3), and masses; internal energies per mass, of gas that has them."""

    def __init__(self, position, velocity, mass, energy=None):
        self.position, self.velocity, self.mass, self.energy = position, velocity, mass, energy


class Snapshot:
    """types: Particles by type. edge: of a periodic box; 0: space is open. Values are physical, in the units `length`, `mass` and
    `velocity`; "" for bare numbers."""

    def __init__(self, name, types, newton, edge=0, length="", mass="", velocity=""):
        self.name, self.types, self.newton, self.edge = name, types, newton, edge
        self.length, self.mass, self.velocity = length, mass, velocity


def last_files(folder):
    """Paths of the last snapshot's files, in order; [] if there is none."""
    sets = {}
    for path in folder.glob("snapshot_*.hdf5"):
        if match := re.fullmatch(r"snapshot_(\d+)(?:\.(\d+))?\.hdf5", path.name):
            sets.setdefault(int(match[1]), []).append((int(match[2] or 0), path))
    return [path for _, path in sorted(sets[max(sets)])] if sets else []


def to_physical(dataset, header):
    """The factor that takes the scale factor and h out of a dataset's values, as GADGET-4 says it."""
    powers = (float(dataset.attrs.get(f"{name}_scaling", 0)) for name in "ah")
    return math.prod(float(header[name]) ** power for name, power in zip(("Time", "HubbleParam"), powers) if power)


def edge_of(files):
    """The physical edge of the periodic box; 0: space is open."""
    header = files[0]["Header"].attrs
    if "Config" not in files[0] or "PERIODIC" not in files[0]["Config"].attrs:
        return 0
    places = [file[name]["Coordinates"] for file in files for name in file if "Coordinates" in file[name]]
    return float(header["BoxSize"]) * to_physical(places[0], header) if places else 0


def read_type(files, name):
    groups = [file[name] for file in files if name in file]
    if not groups or any(key not in group for group in groups for key in ("Coordinates", "Velocities", "Masses")):
        return None
    every = max(1, math.ceil(sum(len(group["Masses"]) for group in groups) / MOST_PARTICLES))
    header = files[0]["Header"].attrs

    def values(key):
        return numpy.concatenate([group[key][::every] * to_physical(group[key], header) for group in groups])

    has_energy = all("InternalEnergy" in group for group in groups)
    return Particles(values("Coordinates"), values("Velocities"), every * values("Masses"),
                     values("InternalEnergy") if has_energy else None)


def unit_of_length(centimetres):
    """The name of the unit that is nearest in size."""
    return min(LENGTHS, key=lambda name: abs(math.log(LENGTHS[name] / centimetres)))


def read_snapshot(folder, length=None):
    """The last one, types with mass; None if there is none that can be read whole. length: the name of the unit to have
    lengths in."""
    import h5py
    paths = last_files(folder)
    files = []
    try:
        files = [h5py.File(path, "r") for path in paths]
        if not files or len(files) != int(files[0]["Header"].attrs["NumFilesPerSnapshot"]):
            return None
        types = {t: read_type(files, f"PartType{t}") for t in range(len(NAMES))}
        units, edge = dict(files[0]["Units"].attrs), edge_of(files)
    except (OSError, KeyError):  # cut short, or as it was being written
        return None
    finally:
        for file in files:
            file.close()
    types = {t: particles for t, particles in types.items() if particles is not None and particles.mass.sum() > 0}
    centimetres, grams, speed = (float(units[f"Unit{key}"])
                                 for key in ("Length_in_cm", "Mass_in_g", "Velocity_in_cm_per_s"))
    snapshot = Snapshot(paths[0].stem, types, float(units["GravityConstantInternal"]), edge)
    if centimetres == grams == speed == 1:
        return snapshot
    snapshot.length = length if length in LENGTHS else unit_of_length(centimetres)
    snapshot.mass, snapshot.velocity = "Msun", "km/s"
    to_length, to_mass = centimetres / LENGTHS[snapshot.length], grams / SOLAR_MASS
    to_velocity = speed / KM_PER_S
    for particles in types.values():
        particles.position *= to_length
        particles.mass *= to_mass
        particles.velocity *= to_velocity
        if particles.energy is not None:
            particles.energy *= to_velocity**2
    snapshot.edge *= to_length
    snapshot.newton *= to_velocity**2 * to_length / to_mass
    return snapshot


def from_place(position, place, edge):
    """The separations from a place, in a periodic box those of the nearest images."""
    separation = position - place
    return separation - edge * numpy.rint(separation / edge) if edge > 0 else separation


def densest_place(position, mass, edge=0):
    """In the fullest cell of a grid over most particles, or a periodic box, what shrinking spheres lead to (Power et al. 2003)."""
    low, high = (numpy.zeros(3), numpy.full(3, edge)) if edge > 0 else numpy.percentile(position, [2, 98], axis=0)
    if not (high > low).all():
        return numpy.median(position, axis=0)
    counts, edges = numpy.histogramdd(position, bins=32, range=list(zip(low, high)))
    cell = numpy.unravel_index(counts.argmax(), counts.shape)
    centre = numpy.array([edges[axis][cell[axis]:cell[axis] + 2].mean() for axis in range(3)])
    size = (high - low).max()
    radius = 2 * size / 32
    enough = None
    while True:
        separation = from_place(position, centre, edge)
        inside = (separation**2).sum(axis=1) <= radius**2
        if not (mass[inside].sum() > 0):
            return centre
        enough = enough or max(100, (inside.sum() if edge > 0 else len(mass)) // 100)
        centre = centre + numpy.average(separation[inside], axis=0, weights=mass[inside])
        if inside.sum() <= enough or radius < 1e-6 * size:
            return centre
        radius *= 0.9


class Profiles:
    """About the densest place, in the frame of what is around it."""

    def __init__(self, snapshot):
        self.snapshot = snapshot
        types = snapshot.types
        shown = [types[t] for t in STARS if t in types] or list(types.values())
        position, mass = (numpy.concatenate([getattr(p, key) for p in shown]) for key in ("position", "mass"))
        self.centre = densest_place(position, mass, snapshot.edge)
        self.radii = {t: numpy.sqrt((self.from_centre(p.position)**2).sum(axis=1)) for t, p in types.items()}
        every, masses = self.everything()
        order = every.argsort()
        self.sorted_radii, self.sorted_mass = every[order], masses[order].cumsum()
        core = self.sorted_radii[self.sorted_mass.searchsorted(0.1 * self.sorted_mass[-1])]
        weights, velocities = zip(*((p.mass[self.radii[t] <= core], p.velocity[self.radii[t] <= core]) for t, p in types.items()))
        self.velocity = numpy.average(numpy.concatenate(velocities), axis=0, weights=numpy.concatenate(weights))

    def from_centre(self, position):
        return from_place(position, self.centre, self.snapshot.edge)

    def farthest(self):
        """The radius of the largest sphere that a periodic box has room for."""
        return self.snapshot.edge / 2 if self.snapshot.edge > 0 else math.inf

    def everything(self):
        return (numpy.concatenate([self.radii[t] for t in self.snapshot.types]),
                numpy.concatenate([p.mass for p in self.snapshot.types.values()]))

    def range_of_radii(self):
        """From where some particles are inside to where nearly all are."""
        first = self.sorted_radii[min(FEWEST, len(self.sorted_radii) - 1)]
        last = min(self.sorted_radii[int(0.98 * (len(self.sorted_radii) - 1))], self.farthest())
        return (first, last) if 0 < first < last else None

    def rotation(self, points=120):
        """Radii, and circular velocities sqrt(G M(<r) / r) by name: of all matter, and of each type by itself."""
        limits = self.range_of_radii()
        if limits is None:
            return None
        r = numpy.geomspace(*limits, points)
        curves = {"all": self.circular_velocity(r, self.sorted_radii, self.sorted_mass)}
        for t, particles in self.snapshot.types.items():
            if len(particles.mass) >= FEWEST and len(self.snapshot.types) > 1:
                order = self.radii[t].argsort()
                curves[label(t)] = self.circular_velocity(r, self.radii[t][order], particles.mass[order].cumsum())
        return r, curves

    def circular_velocity(self, r, radii, mass_inside):
        counts = radii.searchsorted(r, side="right")
        mass = numpy.where(counts > 0, mass_inside[counts - 1], 0)
        return numpy.sqrt(self.snapshot.newton * mass / r)

    def mean_rotation(self, disk=2, bins=20):
        """Radii and mean velocities of the disk's particles around its axis, in rings; None without a disk."""
        particles = self.snapshot.types.get(disk)
        if particles is None or len(particles.mass) < 10 * FEWEST:
            return None
        # A quarter of it shows its axis also where another galaxy is near. An exponential disk has that inside of one scale
        # length, and less than a tenth beyond four.
        quarter = numpy.percentile(self.radii[disk], 25)
        near = self.radii[disk] <= 4 * quarter
        position, velocity = self.from_centre(particles.position[near]), particles.velocity[near] - self.velocity
        mass, inner = particles.mass[near], self.radii[disk][near] <= quarter
        axis = (mass[inner, None] * numpy.cross(position[inner], velocity[inner])).sum(axis=0)
        if not numpy.linalg.norm(axis) > 0:
            return None
        axis /= numpy.linalg.norm(axis)
        flat = position - numpy.outer(position @ axis, axis)
        radius = numpy.sqrt((flat**2).sum(axis=1))
        with numpy.errstate(invalid="ignore", divide="ignore"):
            around = (numpy.cross(axis, flat) * velocity).sum(axis=1) / radius
        good = radius > 0
        edges = numpy.percentile(radius, numpy.linspace(0, 98, bins + 1))
        ring = edges.searchsorted(radius[good], side="right") - 1
        means = [(radius[good][ring == i].mean(), numpy.average(around[good][ring == i], weights=mass[good][ring == i]))
                 for i in range(bins) if (ring == i).sum() >= 10]
        return tuple(zip(*means)) if means else None

    def shells(self, t, bins=40):
        """Which particles of a type lie in spherical shells, and the edges of these; None: too few."""
        radii = self.radii[t]
        good = (radii > 0) & (radii <= self.farthest())
        if good.sum() < FEWEST:
            return None
        return good, numpy.geomspace(*numpy.percentile(radii[good], [0.1, 99.5]), bins + 1)

    def density(self, t, fewest=10):
        """Radii and mean densities of a type in shells; nan in those with few particles."""
        found = self.shells(t)
        if found is None:
            return None
        good, edges = found
        counts = numpy.histogram(self.radii[t][good], edges)[0]
        sums = numpy.histogram(self.radii[t][good], edges, weights=self.snapshot.types[t].mass[good])[0]
        volumes = 4 / 3 * math.pi * (edges[1:]**3 - edges[:-1]**3)
        return numpy.sqrt(edges[1:] * edges[:-1]), numpy.where(counts >= fewest, sums / volumes, math.nan)

    def internal_energy(self, gas=0, fewest=10):
        """Radii and mean internal energies of gas, per mass, in shells; None without gas, nan in shells with few particles."""
        particles = self.snapshot.types.get(gas)
        found = None if particles is None or particles.energy is None else self.shells(gas)
        if found is None:
            return None
        good, edges = found
        radii, mass = self.radii[gas][good], particles.mass[good]
        counts = numpy.histogram(radii, edges)[0]
        masses, sums = (numpy.histogram(radii, edges, weights=weights)[0] for weights in (mass, mass * particles.energy[good]))
        means = numpy.divide(sums, masses, out=numpy.full(len(sums), math.nan), where=counts >= fewest)
        return numpy.sqrt(edges[1:] * edges[:-1]), means


def label(t):
    return f"type {t} ({NAMES[t]})"


def with_unit(text, unit):
    return f"{text} [{unit}]" if unit else text


def draw_rotation(profiles):
    def draw(axes):
        found = profiles.rotation()
        if found is None:
            return False
        r, curves = found
        for name, speed in curves.items():
            axes.plot(r, speed, label=name, color="black" if name == "all" else None, linestyle="-" if name == "all" else "--")
        if rings := profiles.mean_rotation():
            axes.plot(*rings, "o", markersize=3, color="#555555", label="mean rotation of the disk")
        axes.set(xlabel=with_unit("radius", profiles.snapshot.length), ylabel=with_unit("velocity", profiles.snapshot.velocity),
                 xscale="log")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return draw


def draw_density(profiles):
    def draw(axes):
        shown = False
        for t in profiles.snapshot.types:
            if curve := profiles.density(t):
                axes.plot(*curve, label=label(t))
                shown = True
        if not shown:
            return False
        unit = f"{profiles.snapshot.mass}/{profiles.snapshot.length}³" if profiles.snapshot.length else ""
        axes.set(xlabel=with_unit("radius", profiles.snapshot.length), ylabel=with_unit("density", unit), xscale="log", yscale="log")
        axes.legend(fontsize=8)
    return draw


def draw_internal_energy(profiles):
    def draw(axes):
        curve = profiles.internal_energy()
        if not curve:
            return False
        axes.plot(*curve, label=label(0))
        unit = f"({profiles.snapshot.velocity})²" if profiles.snapshot.velocity else ""
        axes.set(xlabel=with_unit("radius", profiles.snapshot.length), ylabel=with_unit("internal energy per mass", unit), xscale="log",
                 yscale="log")
        axes.legend(fontsize=8)
    return draw
