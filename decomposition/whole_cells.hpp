#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/domain.hpp"
#include "decomposition/shares.hpp"

namespace grove {

/// The sum over each run of values. begin: of the runs, ascending, and the end of the last one.
std::vector<Count> sums_of_runs(std::span<const Count> values, std::span<const std::int32_t> begin);

/// The cells that are never divided among ranks (Cell::is_whole()), counted from left to right: what moves
/// together.
class WholeCells {
 public:
  /// Cost: O(cells).
  explicit WholeCells(const Domain& domain);

  /// Sums of values by leaf.
  std::vector<Count> sums(std::span<const Count> by_leaf) const { return sums_of_runs(by_leaf, first_leaf_); }
  /// The runs of leaves, first leaf of each rank, as runs of whole cells, which they have to be; and back.
  std::vector<std::int32_t> of_leaves(std::vector<std::int32_t> runs) const;
  std::vector<std::int32_t> to_leaves(std::vector<std::int32_t> runs) const;

 private:
  std::vector<std::int32_t> first_leaf_;  ///< of each, and the number of leaves
};

/// First leaf of each rank, length P + 1: the runs that there are, or, if they take longer than these by more
/// than noise, runs of whole cells that share the work of the last decomposition out anew. shares: of the
/// weight of its root. The same on all ranks. Cost: O(cells).
std::vector<std::int32_t> balanced_runs(const Domain& domain, const Shares& shares);

}  // namespace grove
