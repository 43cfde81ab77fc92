#pragma once

#include <cstdint>

#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/leaf_root.hpp"

namespace grove::cuda {

/// The leaf of each group. leaves (device): `count`; leaf_of_group (out, device): of all groups.
void number_groups(const LeafPlaces* leaves, std::uint32_t count, std::uint32_t* leaf_of_group);

/// Collects what each leaf tells all ranks. trees: after update_leaves(); notices (out, device): trees.count.
void collect_notices(const LeafTrees& trees, LeafNotice* notices);

/// The roots of leaves as trees that have nothing else: pruned. notices (device), core, moments, links (out,
/// device): `leaves`.
void place_roots(const LeafNotice* notices, std::size_t leaves, NodeCore* core, NodeMoments* moments,
                 NodeLinks* links);

}  // namespace grove::cuda
