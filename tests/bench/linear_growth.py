#!/usr/bin/env python3
"""Growth of the longest waves of a periodic box from z = 49 to 0, over that of linear theory.

    linear_growth.py GROVE FOLDER [--sites N] [--box L] [--paired] [--gpu] [--small]

A box of `grove ic cosmological-box` (2LPT) is run at the default accuracy; its power spectrum at z = 9, 3, 1 and 0 is compared, shell by
shell, with that of the initial conditions times the square of the linear growth factor, of a universe of matter and a cosmological
constant. The modes are the same, so that cosmic variance drops out; what is left in the first shells is the error of the run, and in later
ones nonlinear growth. With --paired a second box is run, with all phases the other way around, and the mean of both is printed: waves
change each other in second order by amounts of opposite sign in these boxes (Angulo and Pontzen 2016). FOLDER gets the runs.
"""
import argparse
import csv
import math
import os
import pathlib
import subprocess

H, OMEGA_MATTER, OMEGA_LAMBDA = 0.7, 0.3, 0.7
BEGIN = 49


def growth(redshift, steps=4000):
    """H(a) times the integral of da / (a H)^3, by Simpson's rule in a^(5/2), of which the integrand is smooth."""
    end = 1 / (1 + redshift)

    def hubble(a):
        return math.sqrt(OMEGA_MATTER / a**3 + OMEGA_LAMBDA)

    def integrand(s):
        a = s**0.4
        return 0.4 * s**-0.6 / (a * hubble(a)) ** 3

    top = end**2.5
    points = [top * i / steps for i in range(1, steps + 1)]
    # At 0 the integrand is finite: 0.4 / Omega_m^(3/2).
    total = 0.4 / OMEGA_MATTER**1.5 - integrand(top)
    total += sum((4 if i % 2 == 0 else 2) * integrand(s) for i, s in enumerate(points))
    return hubble(end) * total * top / steps / 3


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def spectrum(file):
    """k, modes and power of each shell."""
    with open(file) as lines:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    names = [name.split(" ")[0] for name in rows[0]]
    columns = [names.index(name) for name in ("k", "modes", "power")]
    return [[float(row[c]) for c in columns] for row in rows[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("folder", help="for the run")
    parser.add_argument("--sites", type=int, default=128, help="particles along an edge")
    parser.add_argument("--box", type=float, default=512, help="edge, Mpc/h")
    parser.add_argument("--paired", action="store_true", help="the mean of this box and of one with all phases the other way around")
    parser.add_argument("--gpu", action="store_true", help="on a GPU; else on the host, one rank")
    parser.add_argument("--shells", type=int, default=5, help="shells of wavenumbers to print")
    parser.add_argument("--small", action="store_true", help="12 sites to z = 9 in long steps: a trial of seconds")
    options = parser.parse_args()
    redshifts, step = (9, 3, 1, 0), 0.02
    if options.small:
        options.sites, redshifts, step = 12, (9,), 0.1
    grove, folder = os.path.abspath(options.grove), pathlib.Path(options.folder)
    edge = options.box / H
    cosmology = {"hubble": H, "omega-matter": OMEGA_MATTER, "omega-lambda": OMEGA_LAMBDA, "omega-baryon": 0.045, "sigma8": 0.8,
                 "spectral-index": 0.96}
    words = [word for name, value in cosmology.items() for word in (f"--{name}", value)]
    words += ["--sites", options.sites, "--box-size", f"{edge:.10g} Mpc", "--redshift", BEGIN]
    first, ratios = one_box(grove, folder, words, edge, options, redshifts, step)
    if options.paired:
        _, others = one_box(grove, folder / "paired", words + ["--paired"], edge, options, redshifts, step)
        ratios = [[(a + b) / 2 for a, b in zip(*pair)] for pair in zip(ratios, others)]
    print("| k, h/Mpc | modes | " + " | ".join(f"z = {z}" for z in redshifts) + " |")
    print("|---|---|" + "---|" * len(redshifts))
    for (k, modes, _), shell in zip(first[: options.shells], ratios):
        print(f"| {k:.4f} | {modes:.0f} | " + " | ".join(f"{ratio:.4f}" for ratio in shell) + " |")


def one_box(grove, folder, words, edge, options, redshifts, step):
    """Runs a box. Returns the spectrum of its initial conditions, and by shell the power at each redshift over that of linear theory."""
    folder.mkdir(parents=True, exist_ok=True)
    begin = folder / "ic.hdf5"
    begin.unlink(missing_ok=True)
    run(grove, "ic", "cosmological-box", *words, "-o", begin)
    run(grove, "power", begin, "-o", folder / "ic_power.csv", "--overwrite")
    file = folder / "box.yml"
    file.write_text(
        f"initial_conditions: {{file: {begin}}}\n"
        f"cosmology: {{h: {H}, omega_matter: {OMEGA_MATTER}, omega_lambda: {OMEGA_LAMBDA}}}\n"
        f"box: {{periodic: true, size: {edge:.10g} Mpc}}\n"
        f"gravity: {{softening: {40 * edge / options.sites:.4g} kpc}}\n"
        f"time: {{end: z={redshifts[-1]}, step_ln_a: {step}}}\n"
        f"output: {{folder: {folder}/run, render: false, power: true, times: [{', '.join(f'z={z}' for z in redshifts)}]}}\n"
    )
    run(grove, "run", file, "--overwrite", "--quiet", "--backend", "cuda" if options.gpu else "kokkos")
    first = spectrum(folder / "ic_power.csv")
    files = sorted((folder / "run").glob("*_power.csv"))[-len(redshifts):]
    later = [spectrum(name) for name in files]
    ratios = [
        [table[shell][2] / power * (growth(BEGIN) / growth(z)) ** 2 for z, table in zip(redshifts, later)]
        for shell, (_, _, power) in enumerate(first[: options.shells])
    ]
    return first, ratios


if __name__ == "__main__":
    main()
