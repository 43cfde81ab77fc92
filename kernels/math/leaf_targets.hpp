#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/wanted.hpp"

namespace grove {

/// A leaf tells this to ranks in reach.
struct LeafTargets {
  TargetBounds bounds;  ///< of its groups that are active, offsets from its origin in walk units
  Vec3d origin;         ///< units of the run
  Ball ball{};          ///< of the leaf, in a box whose cells have some

  GROVE_HOST_DEVICE bool are_none() const { return !(bounds.low.x <= bounds.high.x); }
  /// The bounds as offsets from another origin.
  GROVE_HOST_DEVICE TargetBounds about(const Vec3d& other, double unit_length) const {
    const Vec3f shift = ((origin - other) * (1 / unit_length)).as<float>();
    TargetBounds moved = bounds;
    moved.low += shift;
    moved.high += shift;
    return moved;
  }
  /// What it wants of trees of other ranks.
  GROVE_HOST_DEVICE Wanted wanted(double unit_length) const {
    return are_none() ? Wanted::nothing() : Wanted::of_leaf(bounds, origin, ball, unit_length);
  }
  /// The targets that stand for leaves which together want this.
  static LeafTargets of(const Wanted& wanted, double unit_length) {
    constexpr double round_up = 1 + 1e-6;
    const Vec3d half = (wanted.high - wanted.low) * 0.5;
    const Vec3f size = (half * (round_up / unit_length)).as<float>();
    return {{Vec3f{0, 0, 0} - size, size, wanted.inverse_tolerance, 0},
            wanted.low + half,
            {wanted.low + half, wanted.radius}};
  }
};

}  // namespace grove
