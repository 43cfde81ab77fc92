#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace grove {

/// How the total weight is shared out: one share after the other, as large as the ranks are fast, and a leaf
/// belongs to the rank whose share holds the leaf's middle. So a rank's weight is within one leaf's of its
/// share, the owners of leaves ascend from left to right, and they follow from weights and speeds alone.
/// Weights are positive integers. Cost of each question: log P.
class Shares {
 public:
  /// Equal ones.
  Shares(Count total, int ranks)
      : Shares(total, std::vector<std::uint32_t>(static_cast<std::size_t>(ranks), 1)) {}
  /// speeds: of the ranks, positive, in any unit.
  Shares(Count total, std::span<const std::uint32_t> speeds) : total_(total), ends_(speeds.size()) {
    std::inclusive_scan(speeds.begin(), speeds.end(), ends_.begin(), std::plus<>(), Count{0});
  }

  /// The owner of a leaf of this weight with this weight to its left.
  int owner(Count before, Count weight) const { return holder(2 * static_cast<Wide>(before) + weight); }

  /// True if leaves of different owners may lie in a cell of this weight.
  bool straddles(Count before, Count weight) const {
    return holder(2 * static_cast<Wide>(before) + 1) != last_owner(before, weight);
  }

  /// The last rank that may own leaves in a cell of this weight.
  int last_owner(Count before, Count weight) const {
    return holder(2 * (static_cast<Wide>(before) + weight) - 1);
  }

  /// The time of the slowest rank, in units of the time that a rank of mean speed takes for a weight of 1,
  /// rounded down. weights: by rank.
  Count longest(std::span<const Count> weights) const {
    Wide most = 0;
    for (std::size_t rank = 0; rank < weights.size(); ++rank) {
      const Count speed = ends_[rank] - (rank > 0 ? ends_[rank - 1] : 0);
      const Wide time = static_cast<Wide>(weights[rank]) * ends_.back() / speed;
      most = std::max(most, time / static_cast<Wide>(ends_.size()));
    }
    return static_cast<Count>(most);
  }

 private:
  __extension__ using Wide = __int128;

  /// Which share holds a point, given as twice the weight to its left.
  int holder(Wide twice) const {
    const Wide point = twice * ends_.back(), all = 2 * static_cast<Wide>(total_);
    const auto ends_behind = [&](Wide place, Count end) { return place < all * end; };
    return static_cast<int>(std::upper_bound(ends_.begin(), ends_.end(), point, ends_behind) - ends_.begin());
  }

  Count total_;
  std::vector<Count> ends_;  ///< [P] running sums of the speeds
};

}  // namespace grove
