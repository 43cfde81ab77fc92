#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/math/direct_force.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// Particles in device memory, units of the run.
struct DirectParticles {
  const Vec3d* position;
  const double* mass;
  const std::uint8_t* type;
  std::size_t count;
};

/// Direct summation in double precision, on some of the particles: what audits compare with. Only the kernel
/// and the softening lengths of `gravity` matter.
///
/// targets (device): `count` numbers of particles; forces (out, device): as many, for G = 1. Particles
/// are summed in portions of 2048, so that few targets have the whole GPU too; the order of summation depends
/// on the number of particles alone. Coincident particles without softening give what is not a number. Cost:
/// targets x particles, about 20 instructions in double precision a pair.
void direct_sum(const GravityParameters& gravity, const DirectParticles& particles,
                const std::uint32_t* targets, std::size_t count, DirectForce* forces);

}  // namespace grove::cuda
