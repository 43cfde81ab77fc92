"""Mass functions of the halos that a run found at its outputs (output.fof), one catalogue for each snapshot; needs numpy, and h5py
to read them."""

import re

from profiles import LENGTHS, SOLAR_MASS, with_unit
from spectra import MOST_CURVES, evenly

MEGAPARSEC = LENGTHS["Mpc"]


class MassFunction:
    """Masses of halos, descending, and how many there are of each mass or more: in a periodic box per volume. Units are "" for bare
    numbers."""

    def __init__(self, label, mass, number, mass_unit, number_unit):
        self.label, self.mass, self.number = label, mass, number
        self.mass_unit, self.number_unit = mass_unit, number_unit


def read_catalogue(path):
    """None if it cannot be read whole, or has no halos."""
    import h5py
    import numpy
    try:
        with h5py.File(path, "r") as file:
            column, header = file["Group/GroupMass"], file["Header"].attrs
            mass = numpy.sort(column[()].astype(float))[::-1]
            grams, has_h = float(column.attrs["to_cgs"]), float(column.attrs["h_scaling"]) != 0
            parameters = file["Parameters"].attrs
            centimetres, edge = float(parameters["UnitLength_in_cm"]), float(header["BoxSize"])
            label = f"z = {abs(float(header['Redshift'])):.3g}" if parameters["ComovingIntegrationOn"] else path.stem
    except (OSError, KeyError):  # cut short, or as it was being written
        return None
    if not len(mass):
        return None
    number = numpy.arange(1, len(mass) + 1, dtype=float)
    is_physical = not grams == centimetres == 1
    if is_physical:
        mass *= grams / SOLAR_MASS
        edge *= centimetres / MEGAPARSEC
    if edge > 0:
        number /= edge**3
    volume = ("(h/Mpc)³" if has_h else "1/Mpc³") if is_physical and edge > 0 else ""
    return MassFunction(label, mass, number, ("Msun/h" if has_h else "Msun") if is_physical else "", volume)


def read_mass_functions(folder):
    """Those of the catalogues in their order, MOST_CURVES of them, evenly chosen with the first and the last; [] if none can be
    read."""
    found = {}
    for path in folder.glob("fof_tab_*.hdf5"):
        if match := re.fullmatch(r"fof_tab_(\d+)\.hdf5", path.name):
            found[int(match[1])] = path
    try:
        read = [read_catalogue(path) for path in evenly([found[number] for number in sorted(found)], MOST_CURVES)]
    except ImportError:
        return []
    return [function for function in read if function]


def draw_mass_functions(functions):
    """How many halos have a mass or more, as steps: one at the mass of each halo."""
    def draw(axes):
        if not functions:
            return False
        for function in functions:
            axes.step(function.mass, function.number, where="post", label=f"{function.label}, {len(function.mass):,} halos")
        last = functions[-1]
        axes.set(xlabel=with_unit("mass of a halo", last.mass_unit), ylabel=with_unit("halos of that mass or more", last.number_unit),
                 xscale="log", yscale="log")
        axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return draw
