#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/domain.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// The cells that a rank needs to know. Every rank is covered by the largest cells that lie on it and have at
/// most a quarter of a rank's mean number of particles, or are leaves: some dozens. All ranks know all covers
/// and the cells above them. Below its own covers a rank knows all cells.
struct KnownCells {
  KnownCells() = default;
  KnownCells(KnownCells&&) = default;  ///< `cells` may be `pruned`, which stays where it is
  KnownCells& operator=(KnownCells&&) = default;

  /// Root first, children behind their parents, siblings neighbours. Covers of other ranks have no children
  /// here. Those of the domain, if it has no others.
  std::span<const Cell> cells;
  std::vector<Cell> pruned;
  std::vector<std::int32_t> cover;        ///< index of each in `cells`, rank by rank, left to right within
  std::vector<std::int32_t> first_cover;  ///< of each rank, length P + 1

  const Cell& cover_cell(std::int32_t number) const {
    return cells[static_cast<std::size_t>(cover[static_cast<std::size_t>(number)])];
  }
  /// The rank that owns a cover. Cost: log P.
  int owner(std::int32_t number) const { return owner_of(number, first_cover); }
  /// The number of covers of each rank.
  std::vector<Count> covers_of_ranks() const;
};

/// Those of a rank. The domain must outlive them. Cost: O(cells that it needs to know).
KnownCells known_cells(const Domain& domain, int rank);

/// The same domain with no more cells than a rank needs to know.
Domain known_part(Domain domain, int rank);

/// The most particles in a cover.
Count most_in_cover(Count particles, std::size_t ranks);
/// Some cells of a subtree, whose root comes first: those not below any of at most so many particles. Cost:
/// O(cells above these).
std::vector<Cell> above_covers(std::span<const Cell> cells, Count most);

}  // namespace grove
