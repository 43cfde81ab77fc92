#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

/// Who is to be walked, and in which order.
namespace grove::cuda {

/// Numbers of groups, or of particles. Device memory.
struct ActiveList {
  DeviceArray<std::uint32_t> numbers;  ///< the first `count`
  std::uint32_t count = 0;
};

/// The groups of some leaves as an update leaves them, and what tells how long their walks will take. Device
/// memory.
struct WalkableGroups {
  LeafTrees trees;
  const std::uint32_t* leaf_of_group;
  std::uint32_t count;
  const std::uint32_t* work;  ///< by particle, work_per_cycle() of its last walk
  const std::uint8_t* rung;   ///< by particle, as now: it may have been another one in that walk
};

/// Groups that have active particles. targets_per_warp: group_size; or twice that: of each pair of groups of
/// a leaf, the first, if either has any.
///
/// Those come first whose first active particle had the most interactions when it last walked, to a factor of
/// two or so, as a group whose box reaches into a dense place may have twenty times as many as most: begun
/// last it would keep the GPU waiting. In which order groups walk changes no bit of the forces. Cost: two
/// passes over the groups, and a wait of the host.
ActiveList active_groups(const WalkableGroups& groups, int targets_per_warp);

/// The same where all are active, without a wait. count: of all groups, or pairs.
ActiveList all_groups(const WalkableGroups& groups, int targets_per_warp, std::uint32_t count);

/// Particles on rungs of at least first_active, in ascending order. rung (device): `count`. Cost: one pass.
ActiveList active_particles(const std::uint8_t* rung, std::size_t count, int first_active);

}  // namespace grove::cuda
