#pragma once

#include "kernels/math/acceptance.hpp"
#include "kernels/math/node.hpp"

namespace grove::cuda {

/// The criteria of acceptance.hpp for all targets of a group at once: at the place in their box that is next
/// to the node, with their least tolerance.
class GroupAcceptance {
 public:
  __device__ explicit GroupAcceptance(const TargetBounds& targets) : targets_(targets) {}

  /// centre: of a node, in the frame of the targets.
  __device__ float distance2(const Vec3f& centre) const { return targets_.distance2(centre); }
  __device__ bool accepts(const NodeCore& core, float distance2) const {
    return grove::accepts(core, distance2, targets_.inverse_tolerance, 0);
  }

 private:
  const TargetBounds& targets_;
};

}  // namespace grove::cuda
