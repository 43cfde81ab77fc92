#pragma once

#include <limits>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// By which the test of a cell of receivers is stricter than those of its leaves, besides selection_margin.
/// The former is computed in double precision; the latter round places relative to their distance from the
/// leaf's origin, by a few times 2^-24.
inline constexpr double place_margin = 1e-6;
inline constexpr double infinite_double = std::numeric_limits<double>::infinity();

/// The wishes of the leaves of a cell of the ORB, together, for other ranks' trees.
struct Wanted {
  Vec3d low, high;          ///< box of their targets and their origins, length units of the run
  float inverse_tolerance;  ///< the largest
  double radius = -1;       ///< the largest of their balls, whose middles are in the box; below 0: none

  GROVE_HOST_DEVICE static Wanted of_leaf(const TargetBounds& bounds, const Vec3d& origin, const Ball& ball,
                                          double unit_length) {
    Wanted wanted{origin, origin, bounds.inverse_tolerance, ball.radius};
    const Vec3d low = origin + unit_length * bounds.low.as<double>(),
                high = origin + unit_length * bounds.high.as<double>();
    wanted.take(low, high);
    if (ball.is_there()) wanted.take(ball.middle, ball.middle);
    return wanted;
  }
  GROVE_HOST_DEVICE static Wanted united(Wanted a, const Wanted& b) {
    a.take(b.low, b.high);
    if (b.inverse_tolerance > a.inverse_tolerance) a.inverse_tolerance = b.inverse_tolerance;
    if (b.radius > a.radius) a.radius = b.radius;
    return a;
  }

  /// The wants of no leaf: there is nothing to ask.
  GROVE_HOST_DEVICE static Wanted nothing() {
    constexpr double inf = infinite_double;
    return {{inf, inf, inf}, {-inf, -inf, -inf}, 0, -1};
  }
  GROVE_HOST_DEVICE bool is_nothing() const { return low.x > high.x; }
  GROVE_HOST_DEVICE static Wanted united_if_any(const Wanted& a, const Wanted& b) {
    if (a.is_nothing()) return b;
    return b.is_nothing() ? a : united(a, b);
  }

  /// True if one of the leaves may open a node with this centre of mass (length units of the run), or one of
  /// its images. ball: of the cell or leaf that the node is of. is_inner: it is a cell above the leaves.
  GROVE_HOST_DEVICE bool may_open(const Vec3d& centre, const NodeCore& core, const Ball& ball, bool is_inner,
                                  double unit_length, const Images& images) const {
    if (radius >= 0 && ball.is_there()) {
      if (!may_be_near(ball.middle, ball.middle, ball.radius, images)) return false;
      if (is_inner) return true;
    }
    return may_open(centre, core, unit_length, images);
  }
  /// True if cells with balls of at most this radius, their middles in a box, may not act from far on one of
  /// the leaves, in any image.
  /// margins: how many of those of rounding are taken off.
  GROVE_HOST_DEVICE bool may_be_near(const Vec3d& from, const Vec3d& to, double largest, const Images& images,
                                     int margins = 1) const {
    double distance2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
      // The distance of two intervals is that of the middle of one from the other, widened by half of the
      // one.
      const double half = (to[axis] - from[axis]) / 2;
      const double outside =
          images.outside(low[axis] - half, high[axis] + half, from[axis] + half, margins * place_margin);
      distance2 += outside * outside;
    }
    return !acts_from_far(largest + radius, distance2 * (1 - margins * place_margin));
  }
  /// True if the criterion may open it, whatever its ball.
  GROVE_HOST_DEVICE bool may_open(const Vec3d& centre, const NodeCore& core, double unit_length,
                                  const Images& images) const {
    double distance2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double outside = images.outside(low[axis], high[axis], centre[axis], place_margin) / unit_length;
      distance2 += outside * outside;
    }
    // Rounded down on the way to single precision by at most 2^-24, which selection_margin covers.
    return !accepts(core, static_cast<float>(distance2), inverse_tolerance, 2 * selection_margin);
  }

 private:
  GROVE_HOST_DEVICE void take(const Vec3d& other_low, const Vec3d& other_high) {
    for (int axis = 0; axis < 3; ++axis) {
      if (other_low[axis] < low[axis]) low[axis] = other_low[axis];
      if (other_high[axis] > high[axis]) high[axis] = other_high[axis];
    }
  }
};

}  // namespace grove
