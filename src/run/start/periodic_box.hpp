#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "particles/particles.hpp"

namespace grove {

/// InputError, on all ranks, unless these particles fit into the periodic box of the run: their extent is its
/// edge at most, and the file, if there is one, says no other box. Collective.
void require_periodic_box(const Communicator& comm, const Parameters& parameters, const Particles& particles,
                          const SnapshotHeader* header);

/// A remark on a file with a box in a run that takes space to be open; empty: there is nothing to say.
std::string remark_on_box(const Parameters& parameters, const std::string& file,
                          const SnapshotHeader& header);

}  // namespace grove
