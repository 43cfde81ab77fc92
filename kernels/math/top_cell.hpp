#pragma once

#include "base/vec3.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// A cell of the ORB for walks of other ranks; of a leaf what LeafRoot says.
struct TopCell {
  NodeCore core;
  NodeMoments moments;
  Vec3d place;      ///< the centre of mass; of a leaf its origin; units of the run
  Vec3f low, high;  ///< NodeBox, where the criterion needs it; of a leaf LeafRoot::low and high
  Ball ball;        ///< where cells have some
  bool is_leaf;

  GROVE_HOST_DEVICE static TopCell of_leaf(const LeafRoot& root) {
    return {root.core, root.moments, root.origin, root.low, root.high, root.ball, true};
  }
  /// Of a leaf.
  GROVE_HOST_DEVICE LeafRoot root() const { return {core, moments, low, high, place, ball}; }
};

}  // namespace grove
