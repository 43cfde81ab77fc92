#pragma once

#include <cstdint>

#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/leaf_root.hpp"

namespace grove::cuda {

/// Collects what each leaf tells all ranks. trees: after update_leaves(); notices (out, device): trees.count.
void collect_notices(const LeafTrees& trees, LeafNotice* notices);

/// The roots of leaves as trees that have nothing else: pruned. notices (device), core, moments, links, boxes
/// (out, device): `leaves`; boxes: nullptr: not wanted.
void place_roots(const LeafNotice* notices, std::size_t leaves, NodeCore* core, NodeMoments* moments,
                 NodeLinks* links, NodeBox* boxes);

}  // namespace grove::cuda
