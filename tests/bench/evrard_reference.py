#!/usr/bin/env python3
"""The collapse of Evrard's sphere in one dimension: energies over time, to hold beside runs of `grove ic evrard`.

    evrard_reference.py [-o FILE.csv] [--shells 1000] [--end 3]

A gas of gamma 5/3 and density M / (2 pi R^2 r), at rest, with u = 0.05 G M / R, falls together under its own gravity and bounces
(Evrard 1988, MNRAS 235, 911). Units: G = M = R = 1. Spherical shells move with the gas: radii and velocities belong to the faces of
shells, densities and energies to their insides, and the artificial viscosity of von Neumann and Richtmyer (1950, J. Appl. Phys. 21, 232)
spreads shocks over some four of them. Nothing of it is shared with Grove: no particles, no smoothing, no softening, no tree.

Needs numpy. Half a minute on a core for 1000 shells, and a time that goes with their square. The columns of the file: time, thermal,
kinetic, potential, total.
"""
import argparse
import csv

import numpy as np

GAMMA = 5 / 3
ENERGY = 0.05  # u at the begin
VISCOSITY = 2.0  # shocks are as wide as some twice this many shells
COURANT = 0.3


class Shells:
    """Equally thick ones at first: the middle, where all happens, is resolved as well as the outside."""

    def __init__(self, number):
        self.radius = np.arange(number + 1) / number  # of faces
        self.within = self.radius**2  # mass within each face
        self.mass = np.diff(self.within)  # of shells
        self.weight = 0.5 * (np.append(self.mass, 0) + np.append(0, self.mass))[1:]  # what moves with each face but the centre
        self.velocity = np.zeros(number + 1)
        self.energy = np.full(number, ENERGY)
        self.volume = self.specific_volume(self.radius)
        self.viscous = np.zeros(number)  # its pressure

    def specific_volume(self, radius):
        return 4 * np.pi / 3 * np.diff(radius**3) / self.mass

    def pressure(self):
        return (GAMMA - 1) * self.energy / self.volume

    def acceleration(self):
        """Of the faces but the centre; nothing presses from outside."""
        pressure = self.pressure() + self.viscous
        r = self.radius[1:]
        return -4 * np.pi * r**2 * (np.append(pressure[1:], 0) - pressure) / self.weight - self.within[1:] / r**2

    def longest_step(self):
        sound = np.sqrt(GAMMA * (GAMMA - 1) * self.energy)
        change = np.diff(self.velocity)
        spread = np.where(change < 0, 4 * VISCOSITY**2, 1) * abs(change)
        return COURANT * np.min(np.diff(self.radius) / (sound + spread))

    def drift(self, step):
        """Places a step later, and what the work on each shell makes of its energy: by the mean of the pressures before and after."""
        self.radius = self.radius + step * self.velocity
        volume = self.specific_volume(self.radius)
        change = np.diff(self.velocity)
        grown = volume - self.volume
        is_compressed = (change < 0) & (grown < 0)  # where shells become thinner as they move out, nothing is
        self.viscous = np.where(is_compressed, VISCOSITY**2 * change**2 * 2 / (volume + self.volume), 0)
        self.energy = (self.energy - (0.5 * self.pressure() + self.viscous) * grown) / (1 + 0.5 * (GAMMA - 1) * grown / volume)
        self.volume = volume

    def energies(self, velocity):
        """Thermal, kinetic and potential; velocity: of the faces, at the time of their places."""
        return (
            np.sum(self.mass * self.energy),
            0.5 * np.sum(self.weight * velocity[1:] ** 2),
            -np.sum(self.weight * self.within[1:] / self.radius[1:]),
        )


def collapse(number, end, every=0.005):
    """Rows of time, thermal, kinetic, potential and total energy, `every` so long."""
    shells = Shells(number)
    rows, time, step = [], 0.0, 0.0
    while True:
        acceleration = shells.acceleration()
        due = len(rows) * every
        if time >= due - 1e-12:
            present = shells.velocity.copy()
            present[1:] += 0.5 * step * acceleration
            parts = shells.energies(present)
            rows.append((time, *parts, sum(parts)))
            due += every
            if time >= end - 1e-12:
                return rows
        before, step = step, min(shells.longest_step(), due - time, 1.1 * step if step > 0 else 1e-5)
        if not step > 0:
            raise ArithmeticError(f"no step at t = {time}: shells have met")
        shells.velocity[1:] += 0.5 * (before + step) * acceleration  # leapfrog: from the middle of a step to that of the next
        shells.drift(step)
        time += step


def extremes(rows):
    """The largest thermal energy with its time, and the lowest potential."""
    peak = max(rows, key=lambda row: row[1])
    return peak[1], peak[0], min(row[3] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="the energies over time")
    parser.add_argument("--shells", type=int, default=1000)
    parser.add_argument("--end", type=float, default=3.0)
    options = parser.parse_args()
    rows = collapse(options.shells, options.end)
    if options.output:
        with open(options.output, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "thermal", "kinetic", "potential", "total"])
            writer.writerows([f"{value:.6g}" for value in row] for row in rows)
    thermal, when, potential = extremes(rows)
    first, last = rows[0], rows[-1]
    print(f"largest thermal energy {thermal:.3f} at t = {when:.3f}, lowest potential {potential:.3f}")
    print(f"t = {last[0]:.3g}: thermal {last[1]:.3f}, kinetic {last[2]:.3f}, potential {last[3]:.3f}")
    print(f"total {first[4]:.4f}, which changes by {max(abs(row[4] - first[4]) for row in rows):.1e}")


if __name__ == "__main__":
    main()
