#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "base/types.hpp"

namespace grove {

/// The leaves of one rank by their own numbers, which count them from left to right: so the own leaves below
/// any cell of the ORB follow each other.
class OwnLeaves {
 public:
  /// Some that follow each other in the ORB: from one up to another one.
  struct Run {
    LeafNumber begin, end;
    std::int32_t before;  ///< own leaves to the left

    friend bool operator==(const Run&, const Run&) = default;
  };

  OwnLeaves() = default;
  /// All of so many.
  static OwnLeaves all(std::int32_t leaves) {
    OwnLeaves own;
    if (leaves > 0) own.add(0, leaves);
    return own;
  }
  /// Adds those from one up to another one, which lie behind all that were added before. InputError: they
  /// cannot be numbered.
  void add(LeafNumber begin, LeafNumber end) {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max() / 2;  // of twice as many cells
    if (end - begin > most - size_)
      throw InputError("2^30 leaves or more on one rank: choose larger leaves, or use more ranks");
    runs_.push_back({begin, end, size_});
    size_ += static_cast<std::int32_t>(end - begin);
  }

  std::int32_t size() const { return size_; }
  std::span<const Run> runs() const { return runs_; }

  /// How many lie to the left of a leaf of the ORB: the own number of one that is own. Cost: the logarithm of
  /// the runs, as of all below.
  std::int32_t before(LeafNumber leaf) const {
    const auto behind = std::upper_bound(runs_.begin(), runs_.end(), leaf,
                                         [](LeafNumber l, const Run& run) { return l < run.begin; });
    if (behind == runs_.begin()) return 0;
    const Run& run = behind[-1];
    return run.before + static_cast<std::int32_t>(std::min(leaf, run.end) - run.begin);
  }
  /// How many there are of those from one on.
  std::int32_t among(LeafNumber first, LeafNumber leaves) const {
    return before(first + leaves) - before(first);
  }
  bool holds(LeafNumber leaf) const { return among(leaf, 1) == 1; }
  /// The number in the ORB of an own one.
  LeafNumber leaf(std::int32_t number) const {
    const auto behind = std::upper_bound(runs_.begin(), runs_.end(), number,
                                         [](std::int32_t n, const Run& run) { return n < run.before; });
    return behind[-1].begin + number - behind[-1].before;
  }

  friend bool operator==(const OwnLeaves&, const OwnLeaves&) = default;

 private:
  std::vector<Run> runs_;  ///< left to right
  std::int32_t size_ = 0;
};

}  // namespace grove
