#include "decomposition/known_cells.hpp"

#include <algorithm>
#include <utility>

#include "decomposition/cover_rule.hpp"

namespace grove {

namespace {

/// The cells of a whole domain without those below covers of other ranks, breadth-first.
std::vector<Cell> pruned_cells(const Domain& domain, int rank) {
  const CoverRule is_cover(domain.cells[0].count, domain.owners);
  return subtree_of(domain.cells, 0, [&](const Cell& cell) { return is_cover.needs_below(cell, rank); });
}

}  // namespace

Count most_in_cover(Count particles, std::size_t ranks) {
  constexpr Count of_mean = 4;
  return particles / (of_mean * static_cast<Count>(ranks));
}

std::vector<Count> KnownCells::covers_of_ranks() const {
  std::vector<Count> covers;
  for (std::size_t rank = 0; rank + 1 < first_cover.size(); ++rank)
    covers.push_back(first_cover[rank + 1] - first_cover[rank]);
  return covers;
}

KnownCells known_cells(const Domain& domain, int rank) {
  KnownCells known;
  known.first_cover.assign(static_cast<std::size_t>(domain.owners.ranks()) + 1, 0);
  if (domain.cells.empty()) return known;
  if (domain.is_whole) known.pruned = pruned_cells(domain, rank);
  known.cells = domain.is_whole ? std::span<const Cell>(known.pruned) : domain.cells;
  const CoverRule may_be_cover(domain.cells[0].count, domain.owners);
  struct Found {
    int owner;
    LeafNumber first_leaf;
    std::int32_t cell;
  };
  std::vector<Found> covers;
  std::vector<bool> is_covered(known.cells.size(), false);
  for (std::size_t i = 0; i < known.cells.size(); ++i) {
    const Cell& cell = known.cells[i];
    const bool is_cover = !is_covered[i] && may_be_cover(cell);
    if (is_cover) covers.push_back({may_be_cover.owner(cell), cell.first_leaf, static_cast<std::int32_t>(i)});
    if (cell.child < 0) continue;
    const auto child = static_cast<std::size_t>(cell.child);
    is_covered[child] = is_covered[child + 1] = is_cover || is_covered[i];
  }
  std::sort(covers.begin(), covers.end(), [](const Found& a, const Found& b) {
    return std::pair(a.owner, a.first_leaf) < std::pair(b.owner, b.first_leaf);
  });
  for (const Found& found : covers) {
    known.cover.push_back(found.cell);
    ++known.first_cover[static_cast<std::size_t>(found.owner) + 1];
  }
  for (std::size_t r = 1; r < known.first_cover.size(); ++r) known.first_cover[r] += known.first_cover[r - 1];
  return known;
}

Domain known_part(Domain domain, int rank) {
  if (domain.is_whole && !domain.cells.empty())
    domain.take_part(pruned_cells(domain, rank), domain.owners.own(rank));
  domain.is_whole = false;
  return domain;
}

std::vector<Cell> above_covers(std::span<const Cell> cells, Count most) {
  return subtree_of(cells, 0, [most](const Cell& cell) { return cell.count > most; });
}

}  // namespace grove
