#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vec3.hpp"
#include "kernels/cuda/direct/direct_sum.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// Which particles want forces: those of numbers first .. first + count - 1 that are active. Device memory.
struct DirectTargets {
  std::size_t first, count;
  const std::uint8_t* rung = nullptr;  ///< [count] of their time steps; null: all are active
  int first_active = 0;                ///< the rung from which on they are
};

/// Forces by direct summation in single precision: what all particles do to the targets, to themselves
/// nothing. A pair uses the larger of two softening lengths; without
/// softening least_softening counts.
///
/// particles (device): in an order in which neighbours are near each other, as trees or space-filling curves
/// give it: positions are kept as offsets from a place in their tile of 512, and in single precision those
/// offsets and the places of tiles seen from each other err by 2^-24 of themselves. acceleration, potential
/// (out, device): `count` each, units of the run, times G; those of active ones are set.
///
/// 512 sources are summed in single precision, their sums in double, so a sum of n terms errs by 512 x 2^-24
/// of the sum of their sizes at most, about 20 x 2^-24 in the mean, for any n. The order of summation, and so
/// every bit of a force, depends on the number of particles alone, not on which forces are wanted.
/// Cost: targets x particles, 14 instructions a pair, 16 under Plummer softening (Nyland, Harris and Prins
/// 2007, GPU Gems 3, chapter 31, with four targets a thread); quarters of tiles that hold a target are
/// computed whole.
void direct_force(const GravityParameters& gravity, const WalkUnits& units, const DirectParticles& particles,
                  const DirectTargets& targets, Vec3f* acceleration, float* potential);

}  // namespace grove::cuda
