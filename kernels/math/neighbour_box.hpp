#pragma once

#include <cmath>
#include <limits>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove {

/// Collects the tight box of particles and their largest H.
struct NeighbourBounds {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Vec3d low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
  double reach = 0;

  /// H below 0: the particle takes no part.
  GROVE_HOST_DEVICE void add(const Vec3d& p, double h) {
    if (h < 0) return;
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = p[axis] < low[axis] ? p[axis] : low[axis];
      high[axis] = p[axis] > high[axis] ? p[axis] : high[axis];
    }
    reach = h > reach ? h : reach;
  }
  GROVE_HOST_DEVICE void add(const NeighbourBounds& other) {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = other.low[axis] < low[axis] ? other.low[axis] : low[axis];
      high[axis] = other.high[axis] > high[axis] ? other.high[axis] : high[axis];
    }
    reach = other.reach > reach ? other.reach : reach;
  }
  GROVE_HOST_DEVICE bool is_nothing() const { return !(low.x <= high.x); }

  /// The box as middle and half sides; these are rounded up by more than differences of places are rounded.
  GROVE_HOST_DEVICE NeighbourTarget target() const {
    if (is_nothing()) return {{0, 0, 0}, {-infinity, -infinity, -infinity}, 0};
    NeighbourTarget box{0.5 * (low + high), 0.5 * (high - low), reach};
    for (int axis = 0; axis < 3; ++axis)
      box.half[axis] += 0x1p-49 * (std::abs(low[axis]) + std::abs(high[axis]));
    return box;
  }
};

}  // namespace grove
