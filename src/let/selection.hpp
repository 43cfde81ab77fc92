#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/walk_views.hpp"
#include "let/receivers.hpp"

namespace grove {

/// The parts of some own trees that the walks of one other rank may open: the locally essential trees for it.
struct Selection {
  struct Tree {
    std::int32_t leaf;       ///< its number in the ORB
    std::int32_t nodes;      ///< nodes selected
    std::int32_t particles;  ///< particles selected
  };
  std::vector<Tree> trees;           ///< in order of the leaf
  std::vector<std::int32_t> source;  ///< [all nodes] index of the node in its tree
  std::vector<NodeLinks> links;      ///< [all nodes] as the receiver will see them, counted per tree
};

/// Selects what the given receivers, all of one rank, may open of a tree whose root they may open, and
/// appends it.
///
/// A node is sent if its parent may be opened by a receiver; a bucket's particles, if the bucket may be. The
/// test is the walk's own with a margin, on the receivers' published bounds: a walk of theirs, which tests
/// smaller bounds, opens no more. Nodes keep their order. A receiver that accepts a node is not asked again
/// below it. Cost: one test per node sent and receiver that opens its parent.
void select_nodes(const SourceTree& tree, std::int32_t leaf, std::span<const Receiver> receivers,
                  Selection& selection);

}  // namespace grove
