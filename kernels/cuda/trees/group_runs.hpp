#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

/// Groups of octrees in parts that do not reach farther than a critical separation
/// (kernels/math/group_runs.hpp).
namespace grove::cuda {

/// The begins of the buckets of each group: bit i: one begins with its particle i. buckets (out, device): by
/// group. trees: links, runs and places are enough. Cost: one pass over the nodes.
void mark_buckets(const LeafTrees& trees, std::uint32_t groups, std::uint32_t* buckets);

/// Parts of groups, in tree order. Device memory.
struct GroupRuns {
  DeviceArray<Group> runs;
  DeviceArray<std::uint32_t> leaf_of_run;  ///< among the leaves of this rank
  std::uint32_t count = 0;
};

/// Those parts of the groups with active particles that have any. leaf_of_group, buckets (device): by group;
/// critical: walk units. Cost: two passes over the groups and over the particles of those that are split.
GroupRuns split_groups(const LeafTrees& trees, const std::uint32_t* leaf_of_group, std::uint32_t groups,
                       const std::uint32_t* buckets, float critical);

}  // namespace grove::cuda
