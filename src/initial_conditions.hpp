#pragma once

#include "comm/communicator.hpp"
#include "particles/models/parameters.hpp"
#include "particles/particles.hpp"

namespace grove {

/// This rank's equal share of a model's particles, in order of their ids over the ranks. Collective;
/// InputError on all ranks together. Every particle is the same on any number of ranks. Cost: each particle
/// is drawn twice, once for the centring (one reduction of a few integers), and no rank holds more than its
/// share.
Particles make_initial_conditions(const Communicator& comm, const ModelParameters& parameters);

}  // namespace grove
