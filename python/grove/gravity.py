"""Forces on given particles."""
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import _grove
from .arrays import ACCELERATION, LENGTH, POTENTIAL, Array, are_comoving, counted, numbers_in, system_of


@dataclass(repr=False)
class Forces:
    """What forces() found for the particles of this rank, in their order.

    accelerations: (N, 3), 32-bit floats; potentials: (N), without the particle's own
    error: of a sample, against direct summation: |a - a_direct| / |a_direct|: {"median", "p99", "max", "sample"};
        None: not measured
    softening: length by type (6) that was used; backend: "kokkos" (the host) or "cuda"
    """
    accelerations: np.ndarray
    potentials: np.ndarray
    error: Optional[dict]
    softening: list
    backend: str

    def __repr__(self):
        error = ", error median %(median).2g, p99 %(p99).2g" % self.error if self.error else ""
        return f"<Forces: {counted(len(self.potentials))}, {self.backend}{error}>"


def length_in(value, system):
    """A length as a number, of a number or a text with a unit. None stays."""
    if value is None or not isinstance(value, str):
        return None if value is None else float(value)
    return (system or _grove.Units.none()).parse(value, LENGTH)


def require_numbers(arrays, **lengths):
    """InputError if some arrays are of a comoving file and a length is a text, which would lack their factors of a and h."""
    if not are_comoving(*arrays):
        return
    for name, value in lengths.items():
        values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        for text in values:
            if isinstance(text, str):
                raise _grove.InputError(f"{name}: '{text}': beside the numbers of a comoving file give a number, in the file's unit")


def edge_in(value, system):
    """The edge of a cube as a number, of a length or of three that are the same, as Snapshot.box_size. None stays."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return length_in(value, system)
    edges = np.asarray(value, dtype=np.float64)
    if edges.shape != (3,) or np.any(edges != edges[0]):
        raise _grove.InputError(f"box_size: {value}; expected the edge of a cube, or three that are the same")
    return float(edges[0])


def softening_by_type(softening, system):
    """Six lengths, None for a type without one; of a length for all, as a number or a text with a unit, or {type: length},
    or six lengths. None stays."""
    if softening is None:
        return None
    if isinstance(softening, dict):
        unknown = [t for t in softening if t not in range(6)]
        if unknown:
            raise _grove.InputError(f"softening: {unknown[0]!r} is not a particle type, 0 to 5")
        return [length_in(softening.get(t), system) for t in range(6)]
    if isinstance(softening, str) or np.ndim(softening) == 0:
        return [length_in(softening, system)] * 6
    if len(softening) != 6:
        raise _grove.InputError(f"softening: {len(softening)} lengths; expected one, or six, one per type")
    return [length_in(value, system) for value in softening]


def forces(positions, masses, softening=None, delta=None, *, theta=None, types=None, ids=None, G=None, kernel="",
           criterion="", order="", box_size=None, direct=False, audit=1000, backend="auto", share_gpu=False, tracers=(), leaf_size=0):
    """Gravity of the particles on each other, with its error: a Forces.

    positions (N, 3), masses (N): of this rank; 64-bit floats without gaps are read where they are. If one of them has units
        the other is taken to be in the same ones, and so are lengths without a unit, and what is found.
    softening: Plummer-equivalent length, or {type: length} for all types that there are; default: half of r / N^(1/3),
        where r holds half of the particles, as `grove force` takes it
    delta: accuracy, theta: opening angle; kernel ("spline", "plummer"), criterion, order: as in docs/parameters.md
    types: 0 to 5, default 1; ids: unique over all ranks, default: counted from 1. The bits depend on the ids.
    G: default: that of the units, if there are any, else 1
    box_size: edge of a periodic box, a number or a text with a unit, or a Snapshot's box_size: particles lie anywhere, as images;
        default: open space
    direct: sum directly, without a tree; audit: particles to measure the error with, 0: none
    backend: "auto", "kokkos" (the host), "cuda"; share_gpu: several ranks may use one GPU
    tracers: types whose particles may have no mass
    leaf_size: particles per leaf; default: by their number. A snapshot of a run records its own (snapshot.leaf_size).

    The same bits as `grove force` finds with the same ids and leaf size, on any number of ranks. Collective; Ctrl-C ends it
    after the evaluation that goes on. InputError: what cannot be computed.
    """
    system = system_of(positions, masses)
    require_numbers((positions, masses), softening=softening, box_size=box_size)
    if G is None:
        G = system.G if system else 1.0
    found = _grove.forces(
        positions=numbers_in(positions, system, "positions"), masses=numbers_in(masses, system, "masses"),
        types=None if types is None else np.asarray(types), ids=None if ids is None else np.asarray(ids),
        softening=softening_by_type(softening, system), delta=delta, theta=theta, kernel=kernel, criterion=criterion,
        order=order, G=G, box_size=edge_in(box_size, system) or 0.0, direct=direct, audit=audit, leaf_size=leaf_size, backend=backend, share_gpu=share_gpu,
        tracers=list(tracers))
    if system:
        is_comoving = are_comoving(positions, masses)
        found["accelerations"] = Array(found["accelerations"], system, ACCELERATION, is_comoving)
        found["potentials"] = Array(found["potentials"], system, POTENTIAL, is_comoving)
    return Forces(**found)
