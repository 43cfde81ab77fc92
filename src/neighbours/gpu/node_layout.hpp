#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/neighbours/device_nodes.hpp"
#include "neighbours/imported_pieces.hpp"

namespace grove {

/// The numbers of the nodes of a tree over own leaves, whose nodes are on a GPU, and imported ones: those
/// that NeighbourNodes would give them.
struct NodeLayout {
  std::vector<std::uint32_t> leaf_begin;  ///< first node of each own leaf
  std::vector<cuda::PlacedNode> others;   ///< all nodes that are in no own leaf
  std::uint32_t size = 0;                 ///< nodes in all
};

/// imported: beside the own leaves; own_nodes (in): of each of these. Cost: O(leaves + imported buckets).
NodeLayout lay_out(const ImportedPieces& imported, std::span<const std::uint32_t> own_nodes);

}  // namespace grove
