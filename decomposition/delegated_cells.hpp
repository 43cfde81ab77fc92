#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decomposition/shares.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// The top cells that reach over a rank boundary and have so few particles that cutting them together, with a
/// few messages per level, would take longer than bringing their records to one rank, which cuts them to the
/// leaves. Left to right; the same on every rank. A rank cuts at most one: the owner of the cell's middle,
/// or, if that cuts the cell before, the last rank that the cell reaches to.
class DelegatedCells {
 public:
  /// top (in): the top cells, root first; of those without children all that straddle are delegated, unless
  /// they are whole (Cell::is_whole()).
  DelegatedCells(std::span<const Cell> top, const Shares& shares, Count domain_cell);

  std::size_t size() const { return cell_.size(); }
  /// The i-th cell's top-cell number, and the rank that cuts it. These ranks ascend.
  std::int32_t cell(std::size_t i) const { return cell_[i]; }
  int rank(std::size_t i) const { return rank_[i]; }
  /// The top-cell number of the one that is delegated to a rank.
  std::optional<std::int32_t> cell_of(int rank) const;

  /// Makes the cells below the delegated ones top cells. subtrees (in): of all delegated cells, one after the
  /// other, each with its root first and children counted from it; a subtree of d leaves has 2 d - 1 cells.
  /// Numbers the leaves anew.
  void join(std::vector<Cell>& top, std::span<const Cell> subtrees) const;

 private:
  std::vector<std::int32_t> cell_;
  std::vector<int> rank_;
};

}  // namespace grove
