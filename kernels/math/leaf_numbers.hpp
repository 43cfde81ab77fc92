#pragma once

#include <cstddef>
#include <span>

#include "kernels/math/cell.hpp"

namespace grove {

/// Counts the leaves below cells and numbers them from left to right, from the root's first leaf on. For
/// rules under which the number of leaves is known only when all cells have been cut.
///
/// cells (in/out): root first, children behind their parents; `leaves` of those without children are given.
/// Cost: two passes.
inline void number_leaves(std::span<Cell> cells) {
  for (std::size_t c = cells.size(); c-- > 0;) {
    if (cells[c].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(cells[c].child);
    cells[c].leaves = cells[child].leaves + cells[child + 1].leaves;
  }
  for (const Cell& cell : cells) {
    if (cell.is_leaf()) continue;
    Cell &left = cells[static_cast<std::size_t>(cell.child)], &right = (&left)[1];
    left.first_leaf = cell.first_leaf;
    right.first_leaf = cell.first_leaf + left.leaves;
  }
}

}  // namespace grove
