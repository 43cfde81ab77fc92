#pragma once

#include <cstdint>

#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove {

/// A number that tells two sets of forces apart: over the bits of (id, acceleration, potential) of all
/// particles of all ranks, whatever their order and their ranks. Collective; the same on every rank. Cost:
/// one pass.
std::uint64_t force_hash(const Communicator& comm, const Particles& particles);

}  // namespace grove
