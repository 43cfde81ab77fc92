"""Snapshots as yt opens them without arguments: by its own readers, then by the one in Grove's module.

    yt_test.py GROVE
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

import grove

if not importlib.util.find_spec("yt"):
    print("yt is not installed: nothing was tried")
    sys.exit(0)
import yt

yt.set_log_level(50)

PARSECS = grove.Units.of(3.085678e18, 1.989e33, 1e5)
MYR_PER_UNIT = 3.085678e18 / 1e5 / 3.15576e13
UNIVERSE = ("--redshift 9 --hubble 0.7 --omega-matter 0.3 --omega-lambda 0.7 --omega-baryon 0.045 --sigma8 0.8 "
            "--spectral-index 1").split()
# yt's solar mass and parsec differ from Grove's in the fourth and sixth digit.
TOLERANCE = 5e-4


class Snapshots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.positions = np.random.default_rng(2).normal(size=(3000, 3)) + [5, -2, 0]
        for name, units, type_ in (("parsecs", PARSECS, 1), ("galactic", "galactic", 1), ("gas", PARSECS, 0)):
            grove.write(cls.path(name), cls.positions, 10 * cls.positions, np.full(3000, 2.0), units=units, time=3.0,
                        types=np.full(3000, type_))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name + ".hdf5")

    def check(self, dataset, length, mass):
        """length, mass: names of the units of the file; velocities are in km/s."""
        everything = dataset.all_data()
        def field(name, unit):
            return everything["all", name].to(unit).d

        self.assertEqual(len(field("particle_mass", mass)), 3000)
        np.testing.assert_allclose(field("particle_position", length), self.positions, rtol=TOLERANCE)
        np.testing.assert_allclose(field("particle_velocity", "km/s"), 10 * self.positions, rtol=TOLERANCE)
        np.testing.assert_allclose(field("particle_mass", mass), 2, rtol=TOLERANCE)
        self.assertAlmostEqual(dataset.current_time.to("Myr").d, 3 * MYR_PER_UNIT * (1000 if length == "kpc" else 1),
                               delta=3000 * TOLERANCE)
        self.assertEqual(dataset.cosmological_simulation, 0)

    def test_1_by_readers_of_yt(self):
        self.check(yt.load(self.path("parsecs")), "pc", "Msun")
        self.check(yt.load(self.path("galactic")), "kpc", "1e10*Msun")

    def check_comoving(self):
        """A box and a sphere of Omega_m 0.3 and h 0.7 at z = 9."""
        box, density = 50, 0.3 * 2.7754e11 * 0.7**2  # Mpc, Msun/Mpc^3, both comoving
        for model, sphere, count in (("cosmological-box", [], 12**3), ("cosmological-sphere", ["--radius", "20 Mpc"], None)):
            path = self.path(model)
            subprocess.run([sys.argv[-1], "ic", model, "--sites", "12", "--box-size", f"{box} Mpc", *sphere, *UNIVERSE,
                            "--overwrite", "-o", path], check=True, stdout=subprocess.DEVNULL)
            dataset = yt.load(path)
            self.assertEqual(dataset.cosmological_simulation, 1)
            self.assertAlmostEqual(float(dataset.current_redshift), 9, delta=1e-12)
            self.assertEqual([float(x) for x in (dataset.hubble_constant, dataset.omega_matter, dataset.omega_lambda)],
                             [0.7, 0.3, 0.7])
            everything = dataset.all_data()
            with h5py.File(path) as file:
                group = file["PartType1"]
                places, velocities = group["Coordinates"][...] / 0.7, group["Velocities"][...] * 0.1**0.5
            self.assertEqual(len(places), count or len(places))
            mass = everything["all", "particle_mass"].to("Msun").d
            np.testing.assert_allclose(mass, density * (box / 12) ** 3, rtol=TOLERANCE)
            np.testing.assert_allclose(everything["all", "particle_position"].to("kpccm").d, places, rtol=TOLERANCE)
            np.testing.assert_allclose(everything["all", "particle_velocity"].to("km/s").d, velocities, rtol=TOLERANCE)
            if not sphere:
                np.testing.assert_allclose(dataset.domain_width.to("Mpccm").d, box, rtol=TOLERANCE)
                self.assertEqual(tuple(dataset.periodicity), (True, True, True))

    def test_1_of_expanding_space_by_readers_of_yt(self):
        self.check_comoving()

    def test_2_by_the_reader_in_the_module(self):
        import grove.yt
        for name, length, mass in (("parsecs", "pc", "Msun"), ("galactic", "kpc", "1e10*Msun"), ("gas", "pc", "Msun")):
            dataset = yt.load(self.path(name))
            self.assertEqual(type(dataset).__module__, "grove.yt")
            self.check(dataset, length, mass)
            low, high = dataset.domain_left_edge.to(length).d, dataset.domain_right_edge.to(length).d
            self.assertTrue(np.all(low < self.positions.min(axis=0)) and np.all(self.positions.max(axis=0) < high))
            self.assertEqual(tuple(dataset.periodicity), (False, False, False))

    def test_2_of_expanding_space_beside_the_reader_in_the_module(self):
        import grove.yt
        self.check_comoving()

    def test_3_plots_show_all_particles(self):
        import grove.yt
        dataset = yt.load(self.path("parsecs"))
        fields = ("all", "particle_position_x"), ("all", "particle_position_y"), ("all", "particle_mass")
        image = yt.ParticlePlot(dataset, *fields).frb["all", "particle_mass"]
        self.assertAlmostEqual(np.nansum(image.to("Msun").d), 6000, delta=6000 * TOLERANCE)

    def test_4_old_snapshots_open(self):
        import grove.yt
        path = self.path("old")
        with h5py.File(self.path("parsecs")) as new, h5py.File(path, "w") as old:
            for name in ("Header", "Units", "PartType1", "Grove"):
                new.copy(name, old)
            for name in ("LowestCoordinates", "HighestCoordinates"):
                del old["Grove"].attrs[name]
        self.check(yt.load(path), "pc", "Msun")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
