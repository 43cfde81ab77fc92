"""Gas in the module `grove` on one rank: internal energies in files, arrays and simulations."""
import os
import tempfile
import unittest
import warnings

import numpy as np

import grove


def sphere(n=300, seed=2):
    """Gas, types 0, in a ball of radius and mass 1."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(n, 3))
    positions = rng.uniform(size=n)[:, None]**(1 / 3) * direction / np.linalg.norm(direction, axis=1)[:, None]
    return {"positions": positions, "velocities": np.zeros((n, 3)), "masses": np.full(n, 1 / n),
            "types": np.zeros(n, dtype=int), "internal_energies": rng.uniform(0.04, 0.06, n)}


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "gas.hdf5")

    def test_internal_energies_are_written_and_read(self):
        given = sphere()
        given["types"][100:] = 1
        given["internal_energies"][100:] = 0
        grove.write(self.path, **given)
        read = grove.load(self.path)
        self.assertEqual(read.internal_energies.tobytes(), given["internal_energies"].tobytes())
        self.assertEqual(read[0].internal_energies.tobytes(), given["internal_energies"][:100].tobytes())
        self.assertEqual(read.internal_energies.units, read.units.name((2, 0, -2)))
        grove.write(self.path, read.positions, read.velocities, read.masses, types=read.types, ids=read.ids, overwrite=True,
                    internal_energies=read.internal_energies)
        self.assertEqual(grove.load(self.path).internal_energies.tobytes(), given["internal_energies"].tobytes())

    def test_without_them_there_are_none(self):
        given = sphere()
        del given["internal_energies"]
        grove.write(self.path, **given)
        self.assertFalse(hasattr(grove.load(self.path), "internal_energies"))

    def test_input_at_fault_is_named(self):
        given = sphere(10)
        energies = given["internal_energies"]
        for message, change in {
                r"internal_energies: has shape \(9\); expected \(10\)": {"internal_energies": energies[:9]},
                "internal_energies: -1 of particle 0, which is of type 0; expected a finite number that is not negative":
                    {"internal_energies": np.full(10, -1.0)},
                "internal_energies: nan of particle 0": {"internal_energies": energies * np.nan},
                "internal_energies: .* of particle 3, which is of type 1; expected 0, as only particles of type 0 are gas":
                    {"types": np.where(np.arange(10) == 3, 1, 0)},
        }.items():
            with self.subTest(message), self.assertRaisesRegex(grove.InputError, message):
                grove.write(self.path, **{**given, **change})
            with self.subTest(message), self.assertRaisesRegex(grove.InputError, message):
                grove.Simulation(Simulations.PARAMETERS, {**given, **change})


class Simulations(unittest.TestCase):
    PARAMETERS = {"units": {"system": "none"}, "gravity": {"softening": 0.05}, "time": {"end": 0.2, "step": 0.1}}

    def test_energy_has_that_of_gas(self):
        given = sphere()
        totals = grove.Simulation(self.PARAMETERS, given).totals()
        # Sums of 300 numbers in another order.
        np.testing.assert_allclose(totals["internal"], given["masses"] @ given["internal_energies"], rtol=1e-13)
        np.testing.assert_allclose(totals["energy"], totals["kinetic"] + totals["potential"] + totals["internal"], rtol=1e-13)

    def test_particles_have_what_gas_has(self):
        given = sphere()
        particles = grove.Simulation(self.PARAMETERS, given).particles
        self.assertEqual(particles.internal_energies.tobytes(), given["internal_energies"].tobytes())
        # H holds the mass of N = 100 particles: docs/gas.md. It is found to 1e-6, so its cube to 3e-6.
        held = 4 / 3 * np.pi * particles.smoothing_lengths**3 * particles.densities
        np.testing.assert_allclose(held, 100 * given["masses"], rtol=1e-5)

    def test_gas_without_internal_energies_is_remarked_on(self):
        given = sphere()
        del given["internal_energies"]
        text = r"particles: holds 300 particles of gas \(type 0\) without internal energies, which move by gravity alone"
        with self.assertWarnsRegex(UserWarning, text):
            run = grove.Simulation(self.PARAMETERS, given)
        self.assertFalse(hasattr(run.particles, "internal_energies"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            grove.Simulation(self.PARAMETERS, sphere())

    def test_no_gas_is_left_among_other_types(self):
        given = sphere()
        given["types"][:] = 1
        given["internal_energies"][:] = 0
        self.assertFalse(hasattr(grove.Simulation(self.PARAMETERS, given).particles, "internal_energies"))

    def test_internal_energies_are_physical_where_space_expands(self):
        size = 10e3  # kpc
        sites = (np.indices((6,) * 3).reshape(3, -1).T + 0.5) * size / 6
        energies, mass = np.linspace(1, 2, 216), 2.77536627e-8 * 0.7**2 * size**3  # (km/s)^2; the critical density of h = 0.7
        run = grove.Simulation(
            {"cosmology": {"preset": "eds", "h": 0.7}, "box": {"periodic": True, "size": "10 Mpc"}, "gravity": {"softening": "500 kpc"},
             "time": {"begin": "z=9", "end": "z=4", "step_ln_a": 0.1}},
            {"positions": sites, "masses": np.full(216, mass / 216), "types": np.zeros(216, dtype=int),
             "internal_energies": energies})
        # Multiplied and divided by the same power of a, a rounding each; that of the time to a, too, in the sum.
        np.testing.assert_allclose(run.particles.internal_energies, energies, rtol=1e-12)
        np.testing.assert_allclose(run.totals()["internal"], mass * 1.5, rtol=1e-12)
        run.step()
        # Homogeneous gas cools as a^-2, but for what pressure does between the particles in a tenth of ln a.
        np.testing.assert_allclose(run.particles.internal_energies.mean(), 1.5 * (0.1 / run.scale_factor)**2, rtol=1e-3)


if __name__ == "__main__":
    unittest.main(verbosity=1)
