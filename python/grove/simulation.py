"""Simulations that go step by step."""
import json
import math
import os
import warnings

import numpy as np

from . import _grove
from .arrays import DIMENSIONS, TIME, Particles, are_comoving, counted, numbers_in, system_of


def _yaml_value(value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml_value(k)}: {_yaml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(os.fspath(value), ensure_ascii=False)


def _yaml(sections):
    lines = []
    for section, values in sections.items():
        if isinstance(values, dict):
            lines.append(f"{section}:")
            lines += [f"  {key}: {_yaml_value(value)}" for key, value in values.items()]
        else:
            lines.append(f"{section}: {_yaml_value(values)}")
    return "\n".join(lines) + "\n"


class Simulation:
    """A run: particles, the forces between them, and their way through time; with the same bits as `grove run`.

    parameters: the path of a parameter file, or the same as a dictionary {"gravity": {"softening": "20 pc"}, ...}.
        Snapshots that its section `output` asks for are not written, with a warning; see write().
    particles: where to begin, instead of initial_conditions: a Snapshot or Particles, or a dictionary of arrays
        (positions, masses, and if wanted velocities, else 0, types and ids; internal_energies per mass make particles of type 0
        gas, and are 0 for others). Arrays without units are taken to be in those of the others, or else in the run's.
        In expanding space positions x are comoving,
        velocities a^2 dx/dt, internal energies physical, all without h, and time.begin must be given. A Snapshot of a comoving
        file, which has other velocities, is refused: initial_conditions.file reads it.
    overrides: {"section.key": value}, as -P on the command line
    backend, share_gpu: see forces()

    time, end: in the run's unit; done: the end is reached. Particles have steps of their own (powers of two of the
    longest): synchronised says that all are at the end of one. Collective. InputError: see docs/parameters.md.
    """

    def __init__(self, parameters, particles=None, *, overrides=None, backend="auto", share_gpu=False):
        path, text = (None, _yaml(parameters)) if isinstance(parameters, dict) else (os.fspath(parameters), "")
        changes = [f"{name}={_yaml_value(value)}" for name, value in (overrides or {}).items()]
        arrays = dict.fromkeys(("positions", "velocities", "masses", "types", "ids", "internal_energies"))
        unknown = sorted(set(particles) - set(arrays)) if isinstance(particles, dict) else []
        if unknown:
            raise _grove.InputError(f"particles: {unknown[0]!r} is not one of {', '.join(arrays)}")
        values = ({name: particles.get(name) if isinstance(particles, dict) else getattr(particles, name, None) for name in arrays}
                  if particles is not None else {})
        if are_comoving(*values.values()):
            who = f"{particles.path} is" if hasattr(particles, "path") else "arrays are"
            raise _grove.InputError(
                f"particles: {who} of a comoving file, whose velocities are not a^2 dx/dt and whose units may "
                "contain h: give its path as initial_conditions.file, or arrays x, a^2 dx/dt and masses without h")
        if particles is not None:
            changes.append("initial_conditions.file=arrays")
            units = _grove.units_of(path, text, changes)
            beside = system_of(*values.values())
            for name in arrays:
                if values[name] is None and name in ("positions", "masses"):
                    raise _grove.InputError(f"particles: no {name}")
                arrays[name] = numbers_in(values[name], units, name, beside if name in DIMENSIONS else None)
        for name in ("types", "ids"):
            if arrays[name] is not None:
                arrays[name] = np.asarray(arrays[name])
        self._run = _grove.Simulation(path, text, changes, **arrays, backend=backend, share_gpu=share_gpu)
        remarks = self._run.remarks
        if self._run.asks_for_snapshots:
            remarks.append("output: a Simulation writes no snapshots by itself; its write(path) writes one")
        for text in remarks if _grove.rank() == 0 else ():
            warnings.warn(text, stacklevel=2)

    def step(self):
        """To the end of the shortest step of any particle."""
        self._run.step()

    def run(self, until=None, callback=None):
        """Steps to the end of the run, or to the first step that reaches a time, a number or a text with a unit.

        callback(simulation): called where all particles are synchronised, at the end of each longest step; if it
        returns True, or raises an error, on any rank, the run stops there. So it does with Ctrl-C, after a step. Then it
        can go on.
        """
        end = self.units.parse(until, TIME) if isinstance(until, str) else math.inf if until is None else float(until)
        self._run.run(end, callback and (lambda: callback(self)))

    @property
    def particles(self):
        """Those of this rank at `time`, in the order of their ids: a copy, with accelerations and potentials.

        With gas internal_energies, densities and smoothing_lengths, too; in expanding space the last two are comoving."""
        return Particles(self._run.particles(), self.units)

    def totals(self):
        """Of all ranks together: mass, kinetic, potential, external (energy in external potentials), internal (of
        gas), energy (the sum of these four), momentum, angular_momentum, centre_of_mass.

        InputError where particles are not synchronised.
        """
        return self._run.totals()

    @property
    def energy(self):
        """All of it, of all ranks together; see totals()."""
        return self.totals()["energy"]

    def write(self, path, fields=(), files=1, overwrite=False):
        """Writes a snapshot of the present. fields: datasets; default: those of a run. InputError: it exists, unless
        overwrite."""
        self._run.write(os.fspath(path), list(fields), files, overwrite)

    time = property(lambda self: self._run.time)
    time_text = property(lambda self: self._run.time_text, doc="With the unit that the parameters have.")
    scale_factor = property(lambda self: self._run.scale_factor, doc="1 in static space.")
    redshift = property(lambda self: 1 / self.scale_factor - 1, doc="0 in static space.")
    end = property(lambda self: self._run.end)
    done = property(lambda self: self._run.done)
    synchronised = property(lambda self: self._run.synchronised)
    longest_steps = property(lambda self: self._run.longest_steps, doc="How many of them are done.")
    units = property(lambda self: self._run.units)
    softening = property(lambda self: self._run.softening, doc="Length by type.")
    parameters = property(lambda self: self._run.parameters, doc="All of them as a parameter file, resolved.")

    def __len__(self):
        return self._run.count

    def __repr__(self):
        return f"<Simulation: {counted(len(self))}, time {self.time_text}, {self.longest_steps} longest steps done>"
