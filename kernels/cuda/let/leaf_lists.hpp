#pragma once

#include <cstdint>

#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/leaf_targets.hpp"

namespace grove::cuda {

/// The balls of the own leaves. trees: after update_leaves(). least: Images::least_ball. balls (out, device):
/// trees.count.
void find_balls(const LeafTrees& trees, double unit_length, double least, Ball* balls);

/// Collects what is known of each own leaf. trees: after update_leaves(). told (device): what stands for
/// targets of the leaves, from whatever origins; null: they themselves. notices (out, device): trees.count.
void collect_notices(const LeafTrees& trees, const LeafTargets* told, double unit_length,
                     LeafNotice* notices);

/// The targets of some leaves. leaves (device): `count` numbers; targets (out, device): likewise.
void collect_targets(const LeafTrees& trees, const LeafTargets* told, const std::uint32_t* leaves,
                     std::size_t count, LeafTargets* targets);

/// The roots of leaves of other ranks as trees that have nothing else: pruned. core, moments, links, boxes
/// (out, device): of all leaves that are not own ones; boxes: nullptr: not wanted.
void place_roots(const KnownRoots& roots, NodeCore* core, NodeMoments* moments, NodeLinks* links,
                 NodeBox* boxes);

}  // namespace grove::cuda
