"""A reader for yt: units, time and extent of the system as the snapshot states them.

yt (4.2 and later) finds it by itself where Grove's module is on the path; before that: `import grove.yt`, then
`yt.load(path)` without arguments. yt's own reader of GADGET files takes an open box to have no extent, so its plots fail.
"""
import h5py
import numpy as np
from yt.frontends.arepo.data_structures import ArepoHDF5Dataset
from yt.frontends.gadget.data_structures import GadgetHDF5Dataset
from yt.frontends.gadget.fields import GadgetFieldInfo

_UNITS = ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s")


def _extent(file):
    """A cube around all particles in open space, whose faces none of them touches; None where the file does not state it, or
    states a box, which yt reads by itself."""
    grove = file["Grove"].attrs
    if np.any(np.array(file["Header"].attrs["BoxSize"]) > 0) or "LowestCoordinates" not in grove:
        return None
    low, high = np.array(grove["LowestCoordinates"]), np.array(grove["HighestCoordinates"])
    half = 0.505 * np.max(high - low) or 0.5
    centre = (low + high) / 2
    return np.stack((centre - half, centre + half), axis=1)


def _reader(name, base, is_right):
    """A reader of Grove's files for which is_right(file) holds. yt takes the most special class of all that know a file, and
    wants nothing between it and those, so there is one for each of its own readers that know some."""
    def __init__(self, filename, dataset_type="gadget_hdf5", unit_base=None, bounding_box=None, **options):
        if self._instantiated:
            return
        with h5py.File(filename, "r") as file:
            if unit_base is None:
                unit_base = {name: float(file["Units"].attrs[name]) for name in _UNITS}
            if bounding_box is None:
                bounding_box = _extent(file)
        GadgetHDF5Dataset.__init__(self, filename, dataset_type=dataset_type, unit_base=unit_base,
                                   bounding_box=bounding_box, **options)

    def _is_valid(cls, filename, *args, **kwargs):
        try:
            with h5py.File(filename, "r") as file:
                return "Grove" in file and "Header" in file and "Units" in file and is_right(file)
        except OSError:
            return False

    return type(name, (base,), {
        "__init__": __init__, "__module__": __name__, "_is_valid": classmethod(_is_valid), "_field_info_class": GadgetFieldInfo,
        "_set_code_unit_attributes": GadgetHDF5Dataset._set_code_unit_attributes})


def _is_for_arepo(file):
    return "Config" in file and "AMR" in file["Config"].attrs


GroveDataset = _reader("GroveDataset", GadgetHDF5Dataset, lambda file: not _is_for_arepo(file))
GroveUnitsDataset = _reader("GroveUnitsDataset", ArepoHDF5Dataset, _is_for_arepo)
