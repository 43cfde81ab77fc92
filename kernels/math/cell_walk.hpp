#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/cell.hpp"

namespace grove {

/// Goes down from a cell, left to right: calls enter(index, cell) for it, and for the children of each cell
/// that has some and for which enter() returned true. Cost: one call per cell entered.
template <class Enter>
void walk_cells(std::span<const Cell> cells, std::int32_t from, Enter enter) {
  for (std::vector<std::int32_t> stack{from}; !stack.empty();) {
    const std::int32_t index = stack.back();
    const Cell& cell = cells[static_cast<std::size_t>(index)];
    stack.pop_back();
    if (enter(index, cell) && !cell.is_leaf()) stack.insert(stack.end(), {cell.child + 1, cell.child});
  }
}

/// Calls visit(index, cell) for the leaves below a cell, left to right.
template <class Visit>
void for_each_leaf(std::span<const Cell> cells, std::int32_t below, Visit visit) {
  walk_cells(cells, below, [&](std::int32_t index, const Cell& cell) {
    if (cell.is_leaf()) visit(index, cell);
    return true;
  });
}

}  // namespace grove
