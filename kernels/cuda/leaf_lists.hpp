#pragma once

#include <cstdint>

#include "kernels/cuda/leaf_trees.hpp"
#include "kernels/math/leaf_root.hpp"

namespace grove::cuda {

/// The leaf of each group. leaves (device): `count`; leaf_of_group (out, device): of all groups.
void number_groups(const LeafPlaces* leaves, std::uint32_t count, std::uint32_t* leaf_of_group);

/// What each leaf tells all ranks. trees: after update_leaves(); notices (out, device): trees.count.
void collect_notices(const LeafTrees& trees, LeafNotice* notices);

}  // namespace grove::cuda
