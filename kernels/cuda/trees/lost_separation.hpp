#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// Two particles and their leaf, among those of this rank.
struct LostPair {
  std::uint64_t first, second;
  std::uint32_t leaf;
};

/// The same as grove::lost_separation(): the lowest particle that is lost beside one behind it, or
/// nothing_lost. particles: those of trees, after update_leaves(). Cost: one pass over the positions.
Arriving<std::uint64_t> find_lost_separation(const LeafParticleFields& particles, const LeafTrees& trees,
                                             const GravityParameters& gravity);
inline constexpr std::uint64_t nothing_lost = ~std::uint64_t{0};

/// Given that particle: the pair.
LostPair lost_pair_of(std::uint64_t first, const LeafParticleFields& particles, const LeafTrees& trees,
                      const GravityParameters& gravity);

}  // namespace grove::cuda
