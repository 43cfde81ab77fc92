#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// The most that single precision may lose of the place of a particle so far from the origin of its leaf.
GROVE_HOST_DEVICE inline double place_rounding(const Vec3d& from_origin) {
  constexpr double roundoff = 1.0 / (1 << 24);
  double largest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double size = from_origin[axis] < 0 ? -from_origin[axis] : from_origin[axis];
    if (size > largest) largest = size;
  }
  return roundoff * largest;
}

/// Separations of so many roundings and more are not lost.
inline constexpr double lost_within = 4;

/// True if the separation of two particles is lost by such a rounding, though the softening of the second
/// does not cover it. Coincident particles stay so, and then nothing is lost.
GROVE_HOST_DEVICE inline bool is_separation_lost(const Vec3d& separation, double rounding, double softening) {
  const double r2 = norm2(separation);
  return r2 < lost_within * lost_within * rounding * rounding && r2 != 0 && softening < rounding;
}

}  // namespace grove
