#pragma once

#include "base/vec3.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// The data of a leaf of the ORB that the top tree needs; sent between ranks as bytes.
struct LeafRoot {
  NodeCore core;
  NodeMoments moments;
  Vec3f low, high;  ///< tight box of the leaf's particles, offset from its origin, walk units
  Vec3d origin;     ///< units of the run
  Ball ball{};      ///< of the leaf, in a box whose cells have some

  GROVE_HOST_DEVICE NodeBox box() const { return {low - core.centre, high - core.centre}; }
};

/// A leaf tells this to all ranks.
struct LeafNotice {
  LeafRoot root;
  TargetBounds bounds;
  Ball ball{};  ///< that of the root, or what was told of it
};

}  // namespace grove
