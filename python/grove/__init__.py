"""Grove from Python: snapshots as arrays, forces on them, simulations, and what is measured of their particles.

    import grove
    snapshot = grove.load("output/snapshot_010.hdf5")
    halo = snapshot[1]                       # particles of type 1
    halo.positions.units, halo.positions.to("pc")
    found = grove.forces(halo.positions, halo.masses, softening=0.1)
    found.accelerations, found.potentials, found.error["p99"]

    simulation = grove.Simulation("merger.yml")
    simulation.run(until=1.0, callback=lambda s: print(s.time, s.energy))

load and write: snapshots; forces; Simulation; centre_of_mass, lagrange_radii, profile, rotation_curve: what particles are
like; Units and Array: units. help(grove.load) and so on says more of each.

Under `mpirun` (with mpi4py or without) every call is collective, and arrays hold the particles of the own rank. Errors
are exceptions: InputError where the input is at fault, with the text that the program prints. Recipes: docs/analysis.md.
"""
import sys

from . import _grove
from ._grove import InputError, Stopped, Units, commit, rank, size, version
from .analysis import centre_of_mass, lagrange_radii, profile, rotation_curve
from .arrays import Array, Particles
from .gravity import Forces, forces
from .simulation import Simulation
from .snapshots import Snapshot, load, write

__version__ = version
__all__ = ["Array", "Forces", "InputError", "Particles", "Simulation", "Snapshot", "Stopped", "Units", "centre_of_mass",
           "commit", "forces", "lagrange_radii", "load", "profile", "rank", "rotation_curve", "size", "write"]


def _end_all_ranks(previous):
    """An error that ends Python on one rank ends the others too, which may wait for it; unless all have met it."""
    def hook(kind, error, trace):
        previous(kind, error, trace)
        if not getattr(error, "agreed", False):
            sys.stderr.flush()
            _grove.abort()
    return hook


sys.excepthook = _end_all_ranks(sys.excepthook)
