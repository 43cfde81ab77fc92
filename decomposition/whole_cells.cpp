#include "decomposition/whole_cells.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/math/cell_walk.hpp"

namespace grove {

std::vector<Count> sums_of_runs(std::span<const Count> values, std::span<const std::int32_t> begin) {
  std::vector<Count> result;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    result.push_back(std::accumulate(values.begin() + begin[i], values.begin() + begin[i + 1], Count{0}));
  return result;
}

WholeCells::WholeCells(const Domain& domain) {
  walk_cells(domain.cells, 0, [&](std::int32_t, const Cell& cell) {
    if (!cell.is_leaf() && !cell.is_whole(domain.domain_cell)) return true;
    first_leaf_.push_back(cell.first_leaf);
    return false;
  });
  first_leaf_.push_back(domain.leaves());
}

std::vector<std::int32_t> WholeCells::of_leaves(std::vector<std::int32_t> runs) const {
  for (std::int32_t& begin : runs)
    begin = static_cast<std::int32_t>(std::lower_bound(first_leaf_.begin(), first_leaf_.end(), begin) -
                                      first_leaf_.begin());
  return runs;
}

std::vector<std::int32_t> WholeCells::to_leaves(std::vector<std::int32_t> runs) const {
  for (std::int32_t& begin : runs) begin = first_leaf_[static_cast<std::size_t>(begin)];
  return runs;
}

std::vector<std::int32_t> balanced_runs(const Domain& domain, const Shares& shares) {
  constexpr Count part_of_noise = 32;
  const WholeCells whole(domain);
  std::vector<Count> weight;
  for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) weight.push_back(domain.leaf(leaf).weight);
  std::vector<std::int32_t> runs = whole.to_leaves(shares.runs(whole.sums(weight)));
  const Count now = shares.longest(sums_of_runs(weight, domain.first_leaf)),
              then = shares.longest(sums_of_runs(weight, runs));
  return now > then + then / part_of_noise ? runs : domain.first_leaf;
}

}  // namespace grove
