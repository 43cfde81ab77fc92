#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "decomposition/known_cells.hpp"
#include "decomposition/leaf_owners.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// The cells below one, which comes first, breadth-first. may_divide(cell) says whether its children are
/// wanted.
template <class MayDivide>
std::vector<Cell> subtree_of(std::span<const Cell> cells, std::int32_t root, const MayDivide& may_divide) {
  std::vector<Cell> subtree = {cells[static_cast<std::size_t>(root)]};
  for (std::size_t i = 0; i < subtree.size(); ++i) {
    if (subtree[i].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(subtree[i].child);
    const bool divides = may_divide(subtree[i]);
    subtree[i].child = divides ? static_cast<std::int32_t>(subtree.size()) : -1;
    if (divides) subtree.insert(subtree.end(), {cells[child], cells[child + 1]});
  }
  return subtree;
}

/// Says whether a cell is a cover (KnownCells), unless it lies in one.
struct CoverRule {
  const LeafOwners& owners;
  Count most;

  CoverRule(Count particles, const LeafOwners& of)
      : owners(of), most(most_in_cover(particles, static_cast<std::size_t>(of.ranks()))) {}
  int owner(const Cell& cell) const { return owners.owner(cell.first_leaf); }
  bool operator()(const Cell& cell) const {
    return owners.have_one(cell.first_leaf, cell.leaves) && (cell.count <= most || cell.leaves == 1);
  }
  /// True if a rank needs to know the cells below.
  bool needs_below(const Cell& cell, int rank) const { return !(*this)(cell) || owner(cell) == rank; }
};

}  // namespace grove
