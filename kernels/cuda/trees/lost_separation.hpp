#pragma once

#include <cstdint>
#include <optional>

#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// Two particles and their leaf, among those of this rank.
struct LostPair {
  std::uint64_t first, second;
  std::uint32_t leaf;
};

/// The same as grove::lost_separation(): the pair with the lowest first particle. particles: those of
/// trees, after update_leaves(). Cost: one pass over the positions.
std::optional<LostPair> find_lost_separation(const LeafParticleFields& particles, const LeafTrees& trees,
                                             const GravityParameters& gravity);

}  // namespace grove::cuda
