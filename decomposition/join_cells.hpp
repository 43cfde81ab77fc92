#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/cell.hpp"

namespace grove {

/// How many cells the subtree has whose root is this one, of those that stand one after the other, each with
/// its root first, children behind their parents and counted from it. std::logic_error if some are missing.
std::size_t subtree_size(std::span<const Cell> subtrees, std::size_t root);

/// One tree of the top cells and the subtrees of the uncut ones.
///
/// top (in): root first. uncut (in): which of them have subtrees. subtrees (in): those, in the order of
/// `uncut`, as subtree_size() has them; cells without children need not be leaves, but know how many leaves
/// they have. Returns the cells breadth-first, siblings adjacent, with their leaves numbered. Cost: O(cells).
std::vector<Cell> join_cells(std::span<const Cell> top, std::span<const std::int32_t> uncut,
                             std::span<const Cell> subtrees);

}  // namespace grove
