#pragma once

#include <cstdint>

#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/node.hpp"

namespace grove::cuda {

/// The groups of the own leaves, at most 32 particles each, whose targets are walked together. Device memory.
struct NeighbourGroups {
  const LeafPlaces* leaves;            ///< by leaf
  const GroupRun* runs;                ///< [count]
  const std::uint32_t* leaf_of_group;  ///< [count]
  std::uint32_t count;

  GROVE_HOST_DEVICE std::uint32_t first(std::uint32_t group) const {
    return static_cast<std::uint32_t>(leaves[leaf_of_group[group]].first) +
           static_cast<std::uint32_t>(runs[group].first);
  }
};

}  // namespace grove::cuda
