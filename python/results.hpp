#pragma once

#include <span>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove::python {

/// The results of a force evaluation, by particle.
struct Results {
  Array<Vec3f> acceleration;
  Array<float> potential;
};

/// Brings the results of particles, wherever they are by now, to where their ids are wanted and into that
/// order. ids: those wanted here, all ranks together each particle once; result: of the same length.
/// Collective. Cost: two exchanges of 8 to 24 bytes a particle and a sort by id, over a rank that the id
/// names.
Results results_of(const Communicator& comm, std::span<const ParticleId> ids, const Particles& particles);

}  // namespace grove::python
