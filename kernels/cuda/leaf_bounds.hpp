#pragma once

#include <cstdint>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/leaf_trees.hpp"

namespace grove::cuda {

/// The bounds of each leaf from those of its groups, by several blocks where leaves are few. groups: of all
/// leaves. trees: groups in, bounds out. parts: working memory. Cost: one pass over the groups.
void bound_leaves(const LeafTrees& trees, std::uint32_t groups, DeviceArray<TargetBounds>& parts);

}  // namespace grove::cuda
