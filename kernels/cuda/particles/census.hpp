#pragma once

#include <cstddef>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/math/census.hpp"

namespace grove::cuda {

/// The census of particles whose fields are in device memory. Cost: one pass over the fields.
Arriving<Census> take_census(std::size_t count, const ParticleId* id, const double* mass,
                             const Vec3d* position, const Vec3d* velocity);

}  // namespace grove::cuda
