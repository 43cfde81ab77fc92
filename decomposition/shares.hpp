#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace grove {

/// How the total weight is shared out: rank r gets [r, r + 1) W/P, and a leaf belongs to the rank whose share
/// holds the leaf's middle. So a rank's weight is within one leaf's of the mean, the owners of leaves ascend
/// from left to right, and they follow from the weights alone. Weights are positive integers.
class Shares {
 public:
  Shares(Count total, int ranks) : total_(total), ranks_(ranks) {}

  /// The owner of a leaf of this weight with this weight to its left.
  int owner(Count before, Count weight) const { return holder(2 * static_cast<Wide>(before) + weight); }

  /// Whether leaves of different owners may lie in a cell of this weight.
  bool straddles(Count before, Count weight) const {
    return holder(2 * static_cast<Wide>(before) + 1) != last_owner(before, weight);
  }

  /// The last rank that may own leaves in a cell of this weight.
  int last_owner(Count before, Count weight) const {
    return holder(2 * (static_cast<Wide>(before) + weight) - 1);
  }

  /// First leaf of each rank, length P + 1. leaf_weights: left to right.
  std::vector<std::int32_t> runs(std::span<const Count> leaf_weights) const {
    std::vector<std::int32_t> first(static_cast<std::size_t>(ranks_) + 1,
                                    static_cast<std::int32_t>(leaf_weights.size()));
    Count before = 0;
    int next = 0;
    for (std::size_t leaf = 0; leaf < leaf_weights.size(); ++leaf) {
      for (const int rank = owner(before, leaf_weights[leaf]); next <= rank; ++next)
        first[static_cast<std::size_t>(next)] = static_cast<std::int32_t>(leaf);
      before += leaf_weights[leaf];
    }
    return first;
  }

 private:
  __extension__ using Wide = __int128;

  /// Which share holds a point, given as twice the weight to its left.
  int holder(Wide twice) const { return static_cast<int>(twice * ranks_ / (2 * static_cast<Wide>(total_))); }

  Count total_;
  int ranks_;
};

}  // namespace grove
