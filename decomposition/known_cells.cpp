#include "decomposition/known_cells.hpp"

#include <algorithm>

#include "decomposition/join_cells.hpp"

namespace grove {

namespace {

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

}  // namespace

Count most_in_cover(Count particles, std::size_t ranks) {
  constexpr Count of_mean = 4;
  return particles / (of_mean * static_cast<Count>(ranks));
}

KnownCells known_cells(const Domain& domain, int rank) {
  KnownCells known;
  known.first_cover.assign(domain.first_leaf.size(), 0);
  if (domain.cells.empty()) return known;
  const Count most = most_in_cover(domain.cells[0].count, domain.first_leaf.size() - 1);
  known.cells = {domain.cells[0]};
  std::vector<bool> is_covered = {false};  // by known cell: it lies in a cover
  for (std::size_t i = 0; i < known.cells.size(); ++i) {
    Cell& cell = known.cells[i];
    const int first = domain.owner(cell.first_leaf), last = domain.owner(cell.first_leaf + cell.leaves - 1);
    const bool is_cover = !is_covered[i] && first == last && (cell.count <= most || cell.is_leaf());
    if (is_cover) {
      known.cover.push_back(static_cast<std::int32_t>(i));
      ++known.first_cover[static_cast<std::size_t>(first) + 1];
    }
    const std::int32_t child = cell.child;
    if (child < 0) continue;
    const bool is_end = is_cover && first != rank;
    cell.child = is_end ? -1 : static_cast<std::int32_t>(known.cells.size());
    if (is_end) continue;
    for (const std::int32_t c : {child, child + 1})
      known.cells.push_back(domain.cells[static_cast<std::size_t>(c)]);
    is_covered.resize(known.cells.size(), is_cover || is_covered[i]);
  }
  const auto first_leaf = [&](std::int32_t cell) {
    return known.cells[static_cast<std::size_t>(cell)].first_leaf;
  };
  std::sort(known.cover.begin(), known.cover.end(),
            [&](std::int32_t a, std::int32_t b) { return first_leaf(a) < first_leaf(b); });
  for (std::size_t r = 1; r < known.first_cover.size(); ++r) known.first_cover[r] += known.first_cover[r - 1];
  return known;
}

Domain known_part(Domain domain, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  domain.take_cells(known_cells(domain, rank).cells, domain.first_leaf[r], domain.first_leaf[r + 1]);
  domain.is_whole = false;
  return domain;
}

Domain whole_domain(const Communicator& comm, const Domain& domain) {
  Domain whole = domain;
  if (domain.is_whole) return whole;
  const KnownCells known = known_cells(domain, comm.rank());
  std::vector<std::int32_t> uncut;
  std::vector<Cell> own, top = known.cells;
  for (std::int32_t c = 0; c < known.first_cover.back(); ++c) {
    const std::int32_t index = known.cover[static_cast<std::size_t>(c)];
    Cell& cover = top[static_cast<std::size_t>(index)];
    if (cover.leaves == 1) continue;
    uncut.push_back(index);
    cover.child = -1;
    if (known.owner(c) != comm.rank()) continue;
    const std::vector<Cell> below = subtree_of(known.cells, index, [](const Cell&) { return true; });
    own.insert(own.end(), below.begin(), below.end());
  }
  whole.take_cells(join_cells(top, uncut, comm.all_gather_arrays(std::span<const Cell>(own))), 0,
                   domain.leaves());
  whole.is_whole = true;
  return whole;
}

std::vector<Cell> above_covers(std::span<const Cell> cells, Count most) {
  return subtree_of(cells, 0, [most](const Cell& cell) { return cell.count > most; });
}

}  // namespace grove
