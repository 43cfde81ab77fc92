#!/usr/bin/env python3
"""Parameters and figures of cosmology.sh.

    cosmology.py parameters SITES default|published FOLDER > FILE
    cosmology.py figures SITES default|published FOLDER
"""
import csv
import math
import pathlib
import sys

HUBBLE, OMEGA_MATTER, OMEGA_LAMBDA = 0.7, 0.3, 0.7
HUBBLE_TIME = 9.7779222 / HUBBLE  # Gyr; 1 / (100 km/s/Mpc) is 9.78 Gyr
BOX, RADIUS = 130.6, 45  # Mpc
BEGIN = 49
PANELS = (8.9, 2.5, 0.93, 0)
STEPS, SNAPSHOTS = 3584, 29
FLOPS = 38  # an interaction, as the paper counts
PUBLISHED_INTERACTIONS, PUBLISHED_HOURS = 1.196e13, 5.79


def age(redshift):
    """Gyr since the big bang, flat, of matter and a cosmological constant."""
    ratio = OMEGA_LAMBDA / OMEGA_MATTER / (1 + redshift) ** 3
    return HUBBLE_TIME * 2 / (3 * math.sqrt(OMEGA_LAMBDA)) * math.asinh(math.sqrt(ratio))


def particles_of(sites):
    """Sites within the radius, nearly."""
    return round(4 / 3 * math.pi * (RADIUS / BOX * sites) ** 3)


def redshift_of(time):
    scale = (math.sinh(1.5 * math.sqrt(OMEGA_LAMBDA) * time / HUBBLE_TIME) ** 2 * OMEGA_MATTER / OMEGA_LAMBDA) ** (1 / 3)
    return 1 / scale - 1


def snapshot_times():
    """Even in time; the nearest ones are those of the panels."""
    begin, end = age(BEGIN), age(0)
    redshifts = [redshift_of(begin + (end - begin) * i / (SNAPSHOTS - 1)) for i in range(SNAPSHOTS)]
    for panel in PANELS:
        nearest = min(range(SNAPSHOTS), key=lambda i: abs(age(redshifts[i]) - age(panel)))
        redshifts[nearest] = panel
    return redshifts


def parameters(sites, way, folder):
    if way == "published":
        # Shortened to a whole number of steps, so to STEPS.
        steps = f"step: {(age(0) - age(BEGIN)) / (STEPS - 0.5):.8f} Gyr, steps: shared"
        # Those of GADGET's files, kpc/h and 1e10 Msun/h. The edge of the root cube is a power of two in units of length: so
        # 65,536 kpc/h, 1.04 times the sphere's diameter, and cells fit as in an octree about the sphere; it would be 131,072 kpc.
        units = f"units: {{length: {1 / HUBBLE:.12g} kpc, mass: {1e10 / HUBBLE:.12g} Msun, velocity: 1 km/s}}\n"
        gravity = (
            "order: monopole, criterion: opening_cell, theta: 0.6, tree: octree, bucket: 1, walk: rope, kernel: plummer"
        )
        more = f"decomposition: {{rule: centre, leaf_size: {2 * particles_of(sites)}}}\ntuning: {{rebuild_interval: 1}}\n"
        times = snapshot_times()
    else:
        steps, units, gravity, more, times = "step_ln_a: 0.01", "", "", "", PANELS
    # The resolution of the published run is a softening of 4 kpc with 256 sites.
    softening = 4 * 256 / sites
    mean = OMEGA_MATTER * 277.5 * HUBBLE**2 * 2 * RADIUS * 1e3  # column density through the middle, Msun/kpc^2
    return f"""{units}initial_conditions: {{model: cosmological-sphere, sites: {sites}, box_size: {BOX} Mpc, radius: {RADIUS} Mpc}}
cosmology: {{h: {HUBBLE}, omega_matter: {OMEGA_MATTER}, omega_lambda: {OMEGA_LAMBDA}, omega_baryon: 0.045, sigma8: 0.8, spectral_index: 0.96}}
gravity: {{softening: {softening:g} kpc{", " if gravity else ""}{gravity}}}
{more}time: {{begin: z={BEGIN}, end: z=0, {steps}}}
output:
  folder: {folder}/run
  times: [{", ".join(f"z={max(z, 0):.6g}" for z in times)}]
  render: {{width: 30 Mpc, axes: [z], centre: [0, 0, 0], limits: [{0.3 * mean:.3g} Msun/kpc^2, {100 * mean:.3g} Msun/kpc^2]}}
"""


def column(row, name):
    """The value of a column, whatever unit its header names."""
    return next(float(v) for k, v in row.items() if k.split(" [")[0] == name)


def rows_of(path):
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


def draw_panels(folder):
    import h5py
    import matplotlib.pyplot as plt

    pictures = {}
    for snapshot in sorted((folder / "run").glob("snapshot_*.hdf5")):
        with h5py.File(snapshot) as file:
            redshift = float(file["Header"].attrs["Redshift"])
        pictures[redshift] = snapshot.with_suffix(".png")
    figure, axes = plt.subplots(2, 2, figsize=(10, 10))
    for axis, panel in zip(axes.flat, PANELS):
        nearest = min(pictures, key=lambda z: abs(z - panel))
        axis.imshow(plt.imread(pictures[nearest]))
        axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(folder / "panels.png", dpi=150)


def by_longest_step(timing):
    """Times, and interactions of all steps since the time before at which all particles were active."""
    most = max(column(row, "active") for row in timing)
    times, sums, since = [], [], 0
    for row in timing[1:]:
        since += interactions_of(row)
        if column(row, "active") == most:
            times.append(column(row, "time"))
            sums.append(since)
            since = 0
    return times, sums


def interactions_of(row):
    return column(row, "active") * (column(row, "cell_interactions") + column(row, "particle_interactions"))


def draw_interactions(folder, timing):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4.5))
    axis.plot(*by_longest_step(timing))
    axis.set_xlabel("time [Gyr]")
    axis.set_ylabel("interactions in a longest step")
    axis.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(folder / "interactions.png", dpi=150)


def figures(way, folder):
    import matplotlib

    matplotlib.use("Agg")
    timing = rows_of(folder / "run" / "timing.csv")
    first = timing[1] if len(timing) > 1 else timing[0]
    each = column(first, "cell_interactions") + column(first, "particle_interactions")
    total = sum(interactions_of(row) for row in timing)
    seconds = sum(column(row, "total") for row in timing)
    draw_panels(folder)
    draw_interactions(folder, timing)
    energy = abs(column(rows_of(folder / "run" / "energy.csv")[-1], "energy_error"))
    print(f"first step: {each:.1f} interactions per particle; all {len(timing)} evaluations: {total:.4g} interactions")
    print(f"{seconds:.1f} s, {FLOPS * total / seconds / 1e9:.1f} GFLOPS at {FLOPS} flops an interaction; |dE/E| {energy:.2e} at the end")
    if way == "published":
        print(f"published, of 2,874,551 particles: {PUBLISHED_INTERACTIONS:.4g} interactions in {PUBLISHED_HOURS} hours")


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("parameters", "figures"):
        sys.exit(__doc__)
    what, sites, way, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    if what == "parameters":
        print(parameters(sites, way, folder), end="")
    else:
        figures(way, folder)


if __name__ == "__main__":
    main()
