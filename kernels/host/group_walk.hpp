#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "kernels/host/local_tree.hpp"
#include "kernels/math/local_expansion.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// The interaction lists of a group: indices of nodes of a LocalTree, near ones (LocalTree::near2) and far
/// ones apart.
struct InteractionLists {
  Array<std::int32_t> far_cells, near_cells;      ///< accepted
  Array<std::int32_t> expanded;                   ///< accepted, and to be expanded about the target's middle
  Array<std::int32_t> far_buckets, near_buckets;  ///< opened down to their particles
  std::int32_t tests = 0;                         ///< nodes looked at

  /// Scratch: the nodes to be tested, first in, first out; one array for the whole walk.
  Array<std::int32_t> queue;
};

/// Fills the lists for one target, in breadth-first order. frame: that of the target; near cells that it
/// expands are still among the others (sum_expanded()).
/// Throws std::logic_error if a node would be opened that the target's leaf should never open.
void list_interactions(const LocalTree& tree, const TargetBounds& target, const ExpansionFrame& frame,
                       InteractionLists& lists);

}  // namespace grove
