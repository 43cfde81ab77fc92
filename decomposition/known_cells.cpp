#include "decomposition/known_cells.hpp"

#include <algorithm>

namespace grove {

KnownCells known_cells(const Domain& domain, int rank) {
  KnownCells known;
  known.first_cover.assign(domain.first_leaf.size(), 0);
  if (domain.cells.empty()) return known;
  constexpr Count covers_of_mean = 4;
  const Count most =
      domain.cells[0].count / (covers_of_mean * static_cast<Count>(domain.first_leaf.size() - 1));
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

}  // namespace grove
