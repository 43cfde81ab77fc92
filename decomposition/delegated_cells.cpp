#include "decomposition/delegated_cells.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/math/cell_walk.hpp"
#include "kernels/math/leaf_numbers.hpp"

namespace grove {

DelegatedCells::DelegatedCells(std::span<const Cell> top, const Shares& shares, Count domain_cell) {
  Count before = 0;
  int previous = -1;
  for_each_leaf(top, 0, [&](std::int32_t index, const Cell& cell) {
    if (!cell.is_whole(domain_cell) && shares.straddles(before, cell.weight)) {
      const int middle = shares.owner(before, cell.weight);
      previous = middle > previous ? middle : shares.last_owner(before, cell.weight);
      cell_.push_back(index);
      rank_.push_back(previous);
    }
    before += cell.weight;
  });
}

std::optional<std::int32_t> DelegatedCells::cell_of(int rank) const {
  const auto found = std::lower_bound(rank_.begin(), rank_.end(), rank);
  if (found == rank_.end() || *found != rank) return std::nullopt;
  return cell_[static_cast<std::size_t>(found - rank_.begin())];
}

void DelegatedCells::join(std::vector<Cell>& top, std::span<const Cell> subtrees) const {
  for (const std::int32_t index : cell_) {
    Cell& root = top[static_cast<std::size_t>(index)];
    const std::size_t size = subtrees.empty() ? 0 : 2 * static_cast<std::size_t>(subtrees[0].leaves) - 1;
    if (size == 0 || size > subtrees.size())
      throw std::logic_error("cells of a delegated subtree are missing");
    const auto to_top = static_cast<std::int32_t>(top.size()) - 1;  // the root has its place already
    root = subtrees[0];
    root.child += to_top;
    for (Cell cell : subtrees.subspan(1, size - 1)) {
      if (!cell.is_leaf()) cell.child += to_top;
      top.push_back(cell);
    }
    subtrees = subtrees.subspan(size);
  }
  number_leaves(top);
}

}  // namespace grove
