#pragma once

#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "structure/cosmological_volume.hpp"

namespace grove {

/// The volume that a model of a universe stands for: its parameters, seed, cosmology and units are those of a
/// run. Collective: the master reads a table of the spectrum. InputError on all ranks: something is missing
/// or out of its range.
CosmologicalVolume cosmological_volume(const Communicator& comm, const Parameters& parameters);

/// The same with so large a share of its particles, of more mass each.
CosmologicalVolume sample_of(CosmologicalVolume volume, double share);

}  // namespace grove
