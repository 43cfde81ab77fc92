"""Profiles of `grove report` in a periodic box: of a run of preset eds at z = 8 in 50 Mpc, and of a halo over a corner.

    box_profiles.py FOLDER       (the modules of the report are on the path)
"""
import pathlib
import sys

import numpy
import profiles

EDGE = 10
HALO, EVEN = 2000, 4000


def check_run(folder):
    """Its lengths and masses are physical, without h."""
    box = profiles.read_snapshot(folder, "Mpc")
    assert abs(box.edge / (50 / 9) - 1) < 1e-12, box.edge
    density = box.types[1].mass.sum() / box.edge**3
    # The critical density of h = 1 is 2.7754e11 Msun/Mpc^3, of 5 digits as the solar mass has 4.
    hubble = 0.6766
    assert abs(density / (2.7754e11 * hubble**2 * 9**3) - 1) < 1e-3, density


def profiles_at(place, halo, even):
    position = (numpy.concatenate([halo, even]) + place) % EDGE
    moved = profiles.Particles(position, numpy.zeros_like(position), numpy.ones(len(position)))
    return profiles.Profiles(profiles.Snapshot("halo", {1: moved}, 1, EDGE))


def check_halo():
    """A halo in an even background, near a corner of the box and whole cells of the grid away from there. Rounding moves what is found by
    some 1e-15 of the edge; the smallest radii are a thousandth of it. The middle of the halo is in one cell, which so is fuller than others."""
    random = numpy.random.default_rng(1)
    halo, even = EDGE / 64 + 0.3 * random.normal(size=(HALO, 3)), random.uniform(0, EDGE, (EVEN, 3))
    cell = EDGE / 32
    corner, inside = (profiles_at(place, halo, even) for place in (numpy.zeros(3), cell * numpy.array([12, 16, 18])))
    for a, b in zip((*corner.density(1), corner.rotation()[0], corner.rotation()[1]["all"]),
                    (*inside.density(1), inside.rotation()[0], inside.rotation()[1]["all"])):
        numpy.testing.assert_allclose(a, b, rtol=1e-9)
    assert corner.rotation()[0][-1] <= EDGE / 2, "the largest sphere in the box"


check_run(pathlib.Path(sys.argv[1]))
check_halo()
