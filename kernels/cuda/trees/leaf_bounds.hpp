#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// Around some groups: the active ones, and all of them.
struct LeafBounds {
  TargetBounds active, all;
};

/// Bounds and box of each leaf from the bounds of its groups, by several blocks where leaves are few. groups:
/// of all leaves. trees: groups in, bounds and boxes out. parts: working memory. Cost: one pass over the
/// groups.
void bound_leaves(const LeafTrees& trees, std::uint32_t groups, DeviceArray<LeafBounds>& parts);

}  // namespace grove::cuda
