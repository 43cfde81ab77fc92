#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/key_ranges.hpp"
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

/// The parts of the cube that ranks are to own: those of their runs, or, if these take longer than others by
/// more than noise, parts of whole cells that share the work of the last decomposition out anew. shares: of
/// the weight of its root. The same on all ranks. Collective, if other parts could pay. Cost: O(known cells),
/// and a message with the parts.
KeyRanges balanced_parts(const Communicator& comm, const Domain& domain, const Shares& shares);

}  // namespace grove
