"""Power spectra of a run in a periodic box (output.power), one table for each snapshot."""

import math
import re

from reading import numbers, read_table

MOST_CURVES = 8


def redshift_of(path):
    """Of the snapshot beside a table; None if it cannot be read, or is of no universe."""
    try:
        import h5py
        first = path.with_suffix(".hdf5") if path.with_suffix(".hdf5").is_file() else path.with_suffix(".0.hdf5")
        with h5py.File(first, "r") as file:
            header = file["Header"].attrs
            return float(header["Redshift"]) if "HubbleParam" in header and "Redshift" in header else None
    except (ImportError, OSError, KeyError):
        return None


def evenly(items, most):
    """As many of a list at most, evenly chosen, with the first and the last."""
    return items if len(items) <= most else [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def read_spectra(folder):
    """[(label, table)] of the snapshots in their order, MOST_CURVES of them, evenly chosen with the first and the last."""
    found = {}
    for path in folder.glob("snapshot_*_power.csv"):
        if match := re.fullmatch(r"snapshot_(\d+)_power\.csv", path.name):
            found[int(match[1])] = path
    spectra = []
    for path in evenly([found[number] for number in sorted(found)], MOST_CURVES):
        snapshot = path.name.removesuffix("_power.csv")
        redshift = redshift_of(path.with_name(snapshot))
        spectra.append((snapshot if redshift is None else f"z = {abs(redshift):.3g}", read_table(path)))
    return spectra


def draw_spectra(spectra):
    """Curves with the standard deviation of a Gaussian field, and the shot noise."""
    def draw(axes):
        noise = None
        for label, table in spectra:
            points = [row for row in zip(numbers(table, "k"), numbers(table, "power"), numbers(table, "error"))
                      if row[1] > 0 and math.isfinite(row[2])]
            if len(points) < 2:
                continue
            k, power, error = zip(*points)
            line, = axes.plot(k, power, label=label)
            axes.fill_between(k, [max(p - e, 0.3 * p) for p, e in zip(power, error)], [p + e for p, e in zip(power, error)],
                              color=line.get_color(), alpha=0.2, linewidth=0)
            noise = table
        if noise is None:
            return False
        axes.plot(numbers(noise, "k"), numbers(noise, "shot noise"), color="#999999", linestyle="--", linewidth=0.8, label="shot noise")
        axes.set(xlabel=noise.label("k", "wavenumber"), ylabel=noise.label("power"), xscale="log", yscale="log")
        axes.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw
