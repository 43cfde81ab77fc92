#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/cell.hpp"

namespace grove {

/// One tree of the top cells and the subtrees of the uncut ones.
///
/// top (in): root first. uncut (in): which of them have subtrees. subtrees (in): those, in the order of
/// `uncut`, one after the other, each with its root first and children counted from it; a subtree of d leaves
/// has 2 d - 1 cells. Returns the cells breadth-first, siblings adjacent, with their leaves numbered. Cost:
/// O(cells).
std::vector<Cell> join_cells(std::span<const Cell> top, std::span<const std::int32_t> uncut,
                             std::span<const Cell> subtrees);

}  // namespace grove
