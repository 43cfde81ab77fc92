#pragma once

#include <cstdint>

#include "kernels/cuda/let/let_selection.hpp"

namespace grove::cuda {

/// Which leaves of other ranks may open which trees of this one.
struct LetPairs {
  DeviceArray<std::uint32_t> receivers;  ///< numbers of leaves in the ORB; of a pair ascending
  DeviceArray<LetPair> pairs;            ///< by own leaf, then by rank
  std::uint64_t nodes;                   ///< of the trees of all pairs, each counted up to a multiple of 32
};

/// Cost: for each own leaf 256 descents of the top tree, each to a part of its leaves: a leaf far out may
/// reach around thousands of others, which one thread would visit one after the other. Device memory: 2 KiB
/// per own leaf, and 4 bytes per receiver. std::length_error: 2^23 leaves or more.
LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& receivers);

}  // namespace grove::cuda
