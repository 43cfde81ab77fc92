#!/usr/bin/env python3
"""A plane wave in a periodic box of matter alone, until it has crossed itself: errors of velocities, and phase space.

    pancake.py GROVE FOLDER [--sites N] [--accuracy WORD] [--delta D] [--softening S] [--step D] [--gpu] [--small]

Sites of a lattice are displaced along x by a growing mode that crosses at a_c = 0.2 (z = 4). Until then each stays on Zel'dovich's solution
(Zel'dovich 1970, A&A 5, 84), which is exact for a plane wave. Later sheets in one dimension stand in for it, each pulled by as many as
there are on either side of it. The table has the largest error of v_x before the crossing, the root mean square of what v_x is off the
sheets, and the largest of v_y and v_z, which should be 0; all over the largest velocity of Zel'dovich's solution at that time. FOLDER gets
the run, and phase_space.png where there is matplotlib. Needs numpy and h5py.

With a softening of less than 0.3 spacings planes that come near each other feel each other's sites, with more they feel less than all of the
mass: both err more.
"""
import argparse
import pathlib
import subprocess

import h5py
import numpy as np

H = 0.7
EDGE = 10_000.0  # kpc/h
BEGIN, CROSSING = 0.02, 0.2  # scale factors
BEFORE, BEHIND = (0.5, 0.7, 0.9, 0.99), (1.25, 2.0)  # outputs, over the scale factor of the crossing
NEWTON = 6.6743e-8 * 1.989e43 / 3.085678e21 / 1e10  # kpc (km/s)^2 / 1e10 Msun, of h = 1
HUBBLE = 0.1  # km/s / (kpc/h), today


def zeldovich(q, part):
    """Places and velocities of the sites q when the scale factor is this part of the crossing's. Lengths over the edge, velocities over the
    largest one."""
    wave = np.sin(2 * np.pi * q)
    return q + part * wave / (2 * np.pi), wave


def largest_velocity(part):
    """km/s, peculiar."""
    a = part * CROSSING
    return a**2 * HUBBLE * a**-1.5 * EDGE / (2 * np.pi) / CROSSING


def sheets(q, parts, steps=500):
    """The same as zeldovich() at rising parts, also behind the crossing: a leapfrog of sheets in one dimension, so many steps to each part.
    The sheet at x with so many on its left that it is at q in their order is pulled by 3/2 H0^2 (x - q). Units: edge 1, H0 1, H = a^(-3/2)."""
    first = BEGIN / CROSSING
    x, wave = zeldovich(q, first)
    p = BEGIN**0.5 * first * wave / (2 * np.pi)  # a^2 dx/dt
    order, found = np.empty_like(q), []

    def kick(begin, end):
        order[np.argsort(x)] = q
        return 2 * (end**0.5 - begin**0.5) * 1.5 * (x - order)

    for last, part in zip((first, *parts), parts):
        a = CROSSING * np.geomspace(last, part, 2 * steps + 1)
        for begin, middle, end in zip(a[:-2:2], a[1::2], a[2::2]):
            p = p + kick(begin, middle)
            x = x + 2 * (begin**-0.5 - end**-0.5) * p
            p = p + kick(middle, end)
        found.append((x, 2 * np.pi * CROSSING * p / (CROSSING * part) ** 1.5))
    return found


def write_begin(path, sites):
    """As GADGET-4 writes comoving files. Ids are 1 + (i n + j) n + k by the site."""
    q = (np.stack(np.meshgrid(*3 * [np.arange(sites)], indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) / sites
    place, velocity = q.copy(), np.zeros_like(q)
    part = BEGIN / CROSSING
    place[:, 0], velocity[:, 0] = zeldovich(q[:, 0], part)
    velocity *= largest_velocity(part) / np.sqrt(BEGIN)
    count = np.array([0, len(q), 0, 0, 0, 0], np.uint32)
    with h5py.File(path, "w") as file:
        header = {"NumPart_ThisFile": count, "NumPart_Total": count, "NumFilesPerSnapshot": 1, "MassTable": np.zeros(6), "Time": BEGIN,
                  "Redshift": 1 / BEGIN - 1, "BoxSize": EDGE, "HubbleParam": H, "Omega0": 1.0, "OmegaLambda": 0.0}
        file.create_group("Header").attrs.update(header)
        file.create_group("Parameters").attrs["ComovingIntegrationOn"] = 1
        file.create_group("Config").attrs["PERIODIC"] = 1
        group = file.create_group("PartType1")
        group["Coordinates"], group["Velocities"] = EDGE * place, velocity
        group["Masses"] = np.full(len(q), 3 * HUBBLE**2 / (8 * np.pi * NEWTON) * EDGE**3 / len(q))
        group["ParticleIDs"] = np.arange(1, len(q) + 1)


def read(path):
    """Scale factor, places over the edge, and peculiar velocities in km/s, by id."""
    with h5py.File(path) as file:
        a, group = float(file["Header"].attrs["Time"]), file["PartType1"]
        order = np.argsort(group["ParticleIDs"][:])
        return a, group["Coordinates"][:][order] / EDGE, group["Velocities"][:][order] * np.sqrt(a)


def run(options, folder):
    begin = folder / "ic.hdf5"
    write_begin(begin, options.sites)
    times = [part * CROSSING for part in options.parts]
    delta = f", delta: {options.delta:g}" if options.delta else ""
    (folder / "pancake.yml").write_text(
        f"initial_conditions: {{file: {begin}}}\n"
        f"accuracy: {options.accuracy}\n"
        f"cosmology: {{h: {H}, omega_matter: 1, omega_lambda: 0}}\n"
        f"box: {{periodic: true, size: {EDGE / H:.12g} kpc}}\n"
        f"gravity: {{softening: {options.softening * EDGE / H / options.sites:.6g} kpc{delta}}}\n"
        f"time: {{end: a={times[-1]:.10g}, step_ln_a: {options.step}}}\n"
        f"output: {{folder: {folder}/run, render: false, times: [{', '.join(f'a={a:.10g}' for a in times)}]}}\n"
    )
    words = [options.grove, "run", folder / "pancake.yml", "--overwrite", "--quiet", "--backend", "cuda" if options.gpu else "kokkos"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return [read(path) for path in sorted((folder / "run").glob("snapshot_*.hdf5"))]


def site_values(values, sites):
    """Those of a particle for each plane of sites, which are equal but for errors: of its middle one."""
    return values.reshape(sites, sites, sites)[:, sites // 2, sites // 2]


def tabulate(snapshots, options, of_sheets):
    print("| a / a_c | v_x, largest error | v_x off the sheets, rms | v_y, v_z, largest |")
    print("|---|---|---|---|")
    q = (np.arange(options.sites) + 0.5) / options.sites
    for part, (a, _, velocity), (_, sheet_velocity) in zip(options.parts, snapshots, of_sheets):
        velocity = velocity / largest_velocity(a / CROSSING)
        along = velocity[:, 0].reshape(options.sites, -1)
        error = np.abs(along - zeldovich(q, part)[1][:, None]).max() if part < 1 else None
        off = np.sqrt(np.mean((along - sheet_velocity[options.inner :: options.each, None]) ** 2))
        across = np.abs(velocity[:, 1:]).max()
        print(f"| {part:g} | {'' if error is None else f'{error:.2e}'} | {off:.2e} | {across:.2e} |")


def draw(snapshots, options, of_sheets, path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no matplotlib here, so no phase_space.png")
        return
    fine = np.linspace(0, 1, 1001)
    figure, axes = plt.subplots(2, (len(snapshots) + 1) // 2, figsize=(11, 7), squeeze=False, sharex=True, sharey=True)
    for axis, part, (a, place, velocity), sheet in zip(axes.flat, options.parts, snapshots, of_sheets):
        axis.plot(*zeldovich(fine, part), color="0.6", linestyle="--", linewidth=0.8, label="Zel'dovich")
        axis.plot(*sheet, color="C1", linewidth=0.8, label="sheets")
        x, v = (site_values(values[:, 0], options.sites) for values in (place, velocity / largest_velocity(a / CROSSING)))
        axis.plot(x, v, ".", color="C0", markersize=3, label="Grove")
        axis.set_title(f"a / a_c = {part:g}")
        axis.set_xlim(0, 1)
        axis.set_ylim(-1.2, 1.2)
    for axis in axes[-1]:
        axis.set_xlabel("x / edge")
    for axis in axes[:, 0]:
        axis.set_ylabel("v_x / largest of Zel'dovich's")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grove", help="the program")
    parser.add_argument("folder", help="for the run")
    parser.add_argument("--sites", type=int, default=128, help="particles along an edge")
    parser.add_argument("--accuracy", default="standard", help="fast, standard or high")
    parser.add_argument("--delta", type=float, help="gravity.delta, in place of that of the accuracy")
    parser.add_argument("--softening", type=float, default=0.3, help="in spacings of the sites")
    parser.add_argument("--step", type=float, default=0.02, help="longest step, in ln a")
    parser.add_argument("--gpu", action="store_true", help="on a GPU; else on the host, one rank")
    parser.add_argument("--small", action="store_true", help="8 sites in long steps: a trial of seconds")
    options = parser.parse_args()
    if options.small:
        options.sites, options.step = 8, 0.05
    options.parts, options.grove = BEFORE + BEHIND, pathlib.Path(options.grove).resolve()
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # An odd number of sheets for each plane of sites, of which the middle one is at the site.
    options.each = 2 * (2000 // options.sites) + 1
    options.inner = options.each // 2
    sheet_count = options.sites * options.each
    of_sheets = sheets((np.arange(sheet_count) + 0.5) / sheet_count, options.parts)
    snapshots = run(options, folder)
    tabulate(snapshots, options, of_sheets)
    draw(snapshots, options, of_sheets, folder / "phase_space.png")


if __name__ == "__main__":
    main()
