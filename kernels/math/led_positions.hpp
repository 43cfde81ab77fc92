#pragma once

#include <cstddef>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/leapfrog.hpp"

namespace grove {

/// The places by which particles are cut into cells: those where they are, or where they will be in the
/// middle of the time that the cells are to serve. Nodes that are tight in the middle of their life are never
/// more than half of it old, and errors that follow the motion in its second half go against it in the first
/// (docs/measurements/accuracy.md, "Trees that lead").
struct LedPositions {
  const Vec3d* position;
  const Vec3d* velocity = nullptr;  ///< not read without a lead
  double lead = 0;                  ///< time; where space expands the integral of dt / a^2

  GROVE_HOST_DEVICE Vec3d operator()(std::size_t i) const { return (*this)(i, lead); }
  GROVE_HOST_DEVICE Vec3d operator()(std::size_t i, double another_lead) const {
    return another_lead == 0 ? position[i] : drifted(position[i], velocity[i], another_lead);
  }
};

}  // namespace grove
