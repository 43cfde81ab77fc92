#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/let/let_selection.hpp"

namespace grove::cuda {

/// Nodes of trees whose lists are in the memory of a block: bisections, and octrees of so few.
inline constexpr std::int32_t most_in_block = 2048;

/// The places that the parts of a selected tree go to.
struct PackPlaces {
  std::uint64_t node, particle;
  std::uint64_t marks;  ///< first of the pair
  std::int32_t leaf;
};

/// Copies what is marked of each tree to its places; nodes keep their order. largest: nodes of the largest
/// tree. marks: their numbers are overwritten; `out` (out): of the length of all that is marked. A tree that
/// a block holds is one block's, the others are packed in pieces, after counting what is in these. Cost: a
/// pass over the nodes, for large trees three.
void pack_trees(const LeafTrees& trees, std::int32_t largest, std::span<const PackPlaces> places,
                const LetMarks& marks, const LetArrays& out);

}  // namespace grove::cuda
