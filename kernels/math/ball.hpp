#pragma once

#include <cmath>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"

/// Cells of a periodic box that act on leaves far off through expansions of high order (far_cells.hpp), and
/// which these are. Walks from a leaf go through what is left.
namespace grove {

/// A ball that the particles of a cell or a leaf are in: about the middle of their tight box. Units of the
/// run.
struct Ball {
  Vec3d middle{0, 0, 0};
  double radius = -1;  ///< below 0: the cell is not expanded, as in open space

  /// Around a tight box in units of `scale`; nothing is around one without particles. least:
  /// Images::least_ball. Fused here, so that all kernels have the same bits.
  GROVE_HOST_DEVICE static Ball around(const Vec3d& low, const Vec3d& high, double least, double scale = 1) {
    if (!(low.x <= high.x)) return {};
    const Vec3d side = high - low;
    const double radius =
        0.5 * scale * std::sqrt(std::fma(side.z, side.z, std::fma(side.y, side.y, side.x * side.x)));
    return {(0.5 * scale) * (low + high), radius < least ? least : radius};
  }
  /// origin: units of the run; low, high: offsets from it in walk units.
  GROVE_HOST_DEVICE static Ball of_leaf(const Vec3d& origin, const Vec3f& low, const Vec3f& high,
                                        double unit_length, double least) {
    const Ball ball = around(low.as<double>(), high.as<double>(), least, unit_length);
    return ball.is_there() ? ball.shifted(origin) : ball;
  }
  GROVE_HOST_DEVICE bool is_there() const { return radius >= 0; }
  /// With room for drift, as nodes are given some (grown_node.hpp).
  GROVE_HOST_DEVICE Ball grown(double share) const {
    return {middle, is_there() ? radius * (1 + (share < -0.9 ? -0.9 : share)) : radius};
  }
  GROVE_HOST_DEVICE Ball drifted(double drift) const {
    return {middle, is_there() ? (radius + drift > 0 ? radius + drift : 0) : radius};
  }
  GROVE_HOST_DEVICE Ball shifted(const Vec3d& way) const { return {middle + way, radius}; }
};

/// True if whatever is near the one is near the other.
GROVE_HOST_DEVICE inline bool is_within(const Ball& inner, const Ball& outer) {
  return !inner.is_there() || norm(inner.middle - outer.middle) + inner.radius <= outer.radius;
}

/// The most that the sum of two radii is of the distance: docs/cosmology.md.
inline constexpr double far_opening = 0.4;
/// The least radius of balls so that softening, which ends at this distance, reaches from no particle to
/// another one whose cells act on each other from far: their distance is more than that of the balls less
/// both radii.
constexpr double least_ball_of(double softening_reach) {
  return softening_reach * far_opening / (2 * (1 - far_opening));
}

/// radii: the sum of both.
GROVE_HOST_DEVICE constexpr bool acts_from_far(double radii, double distance2) {
  constexpr double opening = far_opening;
  return radii * radii < opening * opening * distance2;
}

/// True if a cell acts on the targets in a leaf through an expansion about the middle of the leaf: both look
/// small from each other. If it is false for a cell that is no leaf, its children are asked; a leaf for
/// which it is false is near, and walked. Whoever asks has the same bits.
GROVE_HOST_DEVICE inline bool acts_from_far(const Ball& source, const Ball& target) {
  if (!source.is_there() || !target.is_there()) return false;
  const Vec3d d = source.middle - target.middle;
  // Fused here, so that no compiler chooses, differently in walks and in expansions.
  return acts_from_far(source.radius + target.radius, std::fma(d.z, d.z, std::fma(d.y, d.y, d.x * d.x)));
}

}  // namespace grove
