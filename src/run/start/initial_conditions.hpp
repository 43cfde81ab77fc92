#pragma once

#include <functional>

#include "comm/communicator.hpp"
#include "particles/models/parameters.hpp"
#include "particles/particles.hpp"

namespace grove {

/// This rank's equal share of a model's particles, in order of their ids over the ranks. Collective;
/// InputError on all ranks together. Every particle is the same on any number of ranks. Cost: each particle
/// is drawn twice, once for the centring (one reduction of a few integers), and no rank holds more than its
/// share. pause (optional): called by all ranks together every second or so; what it throws ends the work.
Particles make_initial_conditions(const Communicator& comm, const ModelParameters& parameters,
                                  const std::function<void()>& pause = {});

/// The model with so large a share of its particles, 16 at least if it has so many. InputError as of the
/// model.
ModelParameters sample_of(ModelParameters model, double share);

}  // namespace grove
