"""Compares what the module finds with files of the program; prints on rank 0 what must be the same on any number of ranks.

usage, by same_bits.sh: same_bits.py own|mpi4py
"""
import json
import os
import signal
import sys
import threading

import h5py
import numpy as np

if sys.argv[1] == "mpi4py":
    from mpi4py import MPI
import grove


def check(condition, what):
    if not condition:
        raise AssertionError(f"rank {grove.rank()}: {what}")  # ends the other ranks, too, which sys.exit() would not


def fields(path, number=1):
    """Of a type, by id."""
    with h5py.File(path, "r") as file:
        group = file[f"PartType{number}"]
        order = np.argsort(group["ParticleIDs"][:])
        return {name: group[name][:][order] for name in group}


def same(found, expected):
    return np.asarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()


def check_forces(start):
    found = grove.forces(start.positions, start.masses, ids=start.ids, softening=0.02, delta=0.001, audit=100,
                         backend="kokkos")
    own = start.ids.astype(int) - 1  # ids of a model count from 1
    expected = fields("forces.hdf5")
    check(same(found.accelerations, expected["Acceleration"][own]), "accelerations differ from those of grove force")
    check(same(found.potentials, expected["Potential"][own]), "potentials differ from those of grove force")
    with open("forces.json") as file:
        check(json.load(file)["error"] == found.error, f"another error: {found.error}")
    # Numbered by itself, here as in the file; reversed, the results have to come back to where they belong.
    check(same(grove.forces(start.positions, start.masses, softening=0.02, delta=0.001, audit=0).potentials,
               found.potentials), "own numbers change forces")
    turned = grove.forces(start.positions[::-1], start.masses[::-1], ids=start.ids[::-1], softening=0.02, delta=0.001,
                          audit=0)
    check(same(turned.accelerations[::-1], found.accelerations), "order changes forces")


def check_run(simulation):
    particles = simulation.particles
    own = particles.ids.astype(int) - 1
    expected = fields("output/snapshot_000.hdf5")
    check(same(particles.positions, expected["Coordinates"][own]), "positions differ from those of grove run")
    check(same(particles.velocities, expected["Velocities"][own]), "velocities differ from those of grove run")


def check_gas():
    """From arrays, as from the file that they are of, gas runs as by grove run."""
    expected = fields("gas_output/snapshot_000.hdf5", 0)
    start = grove.load("gas.hdf5")
    for run in (grove.Simulation("gas.yml", backend="kokkos"),
                grove.Simulation({"units": {"system": "none"}, "gravity": {"softening": 0.05}, "time": {"end": 0.2, "step": 0.1}},
                                 start, backend="kokkos")):
        run.run()
        particles = run.particles
        own = particles.ids.astype(int) - 1
        for name, dataset in (("positions", "Coordinates"), ("velocities", "Velocities"), ("internal_energies", "InternalEnergy"),
                              ("densities", "Density"), ("smoothing_lengths", "SmoothingLength")):
            check(same(getattr(particles, name), expected[dataset][own]), f"{name} of gas differ from those of grove run")


def check_all_stop_together(simulation):
    """Where one rank is interrupted, or its callback fails, all are, and can go on."""
    is_last = grove.rank() == grove.size() - 1

    def fail(_):
        if is_last:
            raise ValueError("on the last rank")

    try:
        simulation.run(callback=fail)
        check(False, "a callback that fails went unnoticed")
    except (ValueError if is_last else RuntimeError) as error:
        check(str(error) == ("on the last rank" if is_last else "the callback failed on another rank"), f"said {error}")
    if is_last:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        simulation.run()
        check(False, "an interrupt went unnoticed")
    except KeyboardInterrupt:
        simulation.step()


def main():
    start = grove.load("start.hdf5")
    check_forces(start)
    called = []
    simulation = grove.Simulation("run.yml", backend="kokkos")
    simulation.run(until=0.015, callback=lambda s: called.append(s.time))
    check(simulation.time == 0.02 and not simulation.done, f"stopped at {simulation.time}")
    simulation.run()
    check_run(simulation)
    given = grove.Simulation({"units": {"system": "none"}, "gravity": {"softening": 0.02, "delta": 0.001},
                              "time": {"end": 0.03, "step": 0.01, "eta": 0.5}}, start, backend="kokkos")
    while not given.done:
        given.step()
    check_run(given)
    check_gas()
    check_all_stop_together(grove.Simulation("run.yml", overrides={"time.end": 100, "output.times": [100]}, backend="kokkos"))
    measured = [called, simulation.energy, given.totals(), grove.centre_of_mass(start.positions, start.masses).tolist(),
                grove.lagrange_radii(start.positions, start.masses).tolist(),
                grove.profile(start.positions, start.masses, bins=8).density.tolist(),
                grove.rotation_curve(start.positions, start.masses, radii=[0.5, 1, 2], softening=0.02).speed.tolist()]
    if grove.rank() == 0:
        print(json.dumps(measured))


main()
