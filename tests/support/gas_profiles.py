"""Profiles of gas of `grove report`: of evrard at its begin, 1e10 Msun within 1 kpc, and of a ball of known energies.

    gas_profiles.py FOLDER       (the modules of the report are on the path)
"""
import pathlib
import sys

import numpy
import profiles


def check_run(folder):
    """u = 0.05 G M / R at first, which a megayear, a fiftieth of the time that it falls, hardly changes."""
    gas = profiles.read_snapshot(folder, "kpc").types[0]
    expected = 0.05 * 4.30092e-6 * 1e10  # (km/s)^2, G in kpc (km/s)^2 / Msun
    assert abs(numpy.median(gas.energy) / expected - 1) < 0.05, numpy.median(gas.energy)


def check_means():
    """Energies that grow as the radius have the mean radius of a shell's mass; shells are thin, of 40 in the ball."""
    random = numpy.random.default_rng(1)
    direction = random.normal(size=(20000, 3))
    radius = random.uniform(size=20000)**(1 / 3)
    position = radius[:, None] * direction / numpy.linalg.norm(direction, axis=1)[:, None]
    gas = profiles.Particles(position, numpy.zeros_like(position), random.uniform(1, 2, 20000), radius)
    found = profiles.Profiles(profiles.Snapshot("ball", {0: gas}, 1))
    found.radii[0] = radius  # about the middle, not about the densest place
    radii, means = found.internal_energy()
    good = numpy.isfinite(means)
    assert good.sum() >= 20, good.sum()
    # The edges of shells are apart by (1 / 0.1)^(1 / 40) or 6 %, and means are between them.
    numpy.testing.assert_allclose(means[good], radii[good], rtol=0.06)


check_run(pathlib.Path(sys.argv[1]))
check_means()
