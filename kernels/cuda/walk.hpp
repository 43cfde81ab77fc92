#pragma once

#include <cstdint>

#include "kernels/cuda/device_top.hpp"
#include "kernels/cuda/leaf_trees.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove::cuda {

/// What forces come from; device memory, walk units. Own leaves and imported ones alike. Of each leaf at
/// least the root is here, pruned if no group of this rank opens it.
struct WalkSources {
  NodeArrays nodes[2];  ///< of the leaves, with frames by number in the ORB; of the cells above them
  const SourceParticle* particles;
  const float* softening;                ///< by particle
  const std::uint32_t* beginnings;       ///< those of TopSources, and the next likewise
  const std::uint32_t* first_beginning;  ///< [leaves + 1]
};

/// Where forces are wanted: the leaves of this rank. Device memory.
struct WalkTargets {
  LeafTrees trees;
  const std::uint32_t* leaf_of_group;  ///< among those of this rank
  std::uint32_t groups;
  std::int32_t first_leaf;  ///< number in the ORB of the first one
};

/// Forces in units of the run, by particle in tree order; device memory.
struct WalkOutput {
  Vec3f* acceleration;
  float* potential;
  std::uint32_t* work;  ///< interactions with cells and particles
};

/// Forces on groups, one warp each; the passes, and who acts on whom, are those of kernels/kokkos/walk.hpp.
///
/// A warp keeps a stack of nodes to be tested and takes up to 32 at a time from its top, a lane each; what is
/// accepted and the buckets of what is opened go to two lists, and each list is summed whenever it fills a
/// batch of 32 sources: a lane loads one, then all lanes, a target each, read them one after the other, first
/// those beyond the reach of softening, then the others. The order of summation depends on the trees alone.
///
/// Throws std::logic_error if a pruned node would have to be opened.
WalkCounts walk_own(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                    const WalkTargets& targets, const WalkOutput& output);
WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const WalkOutput& output);

}  // namespace grove::cuda
