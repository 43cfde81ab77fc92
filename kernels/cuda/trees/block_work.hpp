#pragma once

#include <cstdint>
#include <span>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// The cost of the walk of a step in a block of leaves.
struct BlockWork {
  Count active;        ///< particles
  Count interactions;  ///< theirs
};

/// Sums over the active particles of each block. trees: as they were walked; leaf_of_group, work (device): of
/// all groups and particles, work as the walk leaves it; block_of_leaf (device): by leaf; blocks: their
/// number. Returns the sums by block (device). Cost: one pass over the groups and the work of those that are
/// active.
DeviceArray<BlockWork> sum_block_work(const LeafTrees& trees, const std::uint32_t* leaf_of_group,
                                      std::uint32_t groups, const std::uint32_t* work,
                                      const std::uint32_t* block_of_leaf, std::size_t blocks);

/// Sums over all particles of each leaf. work: device; leaf_begin (host): first particle of each leaf, length
/// leaves + 1; sums (out, host): by leaf. Cost: one pass.
void sum_leaf_work(const std::uint32_t* work, std::span<const Count> leaf_begin, std::span<Count> sums);

}  // namespace grove::cuda
