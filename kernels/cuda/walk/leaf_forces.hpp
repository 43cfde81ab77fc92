#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/particles/leaf_pieces.hpp"
#include "kernels/math/direct_force.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// Particles in device memory, units of the run.
struct LeafForceSources {
  const Vec3d* position;
  const double* mass;
  const std::uint8_t* type;
  const ParticleId* id;
};

/// The effect of the particles of each leaf on each target, in double precision: terms whose sum over all
/// leaves of all ranks is direct summation. Only the kernel and the softening lengths of `gravity` matter.
///
/// targets (device): `count`. forces (out, device): a row of `count` per leaf, for G = 1. The order of
/// summation in a leaf depends on the number of its particles alone. Cost: targets x particles; memory for
/// leaves of several pieces: 32 bytes per piece and target.
void sum_leaf_forces(const GravityParameters& gravity, const LeafForceSources& sources,
                     const LeafPieces& pieces, const DirectTarget* targets, std::size_t count,
                     DirectForce* forces);

}  // namespace grove::cuda
