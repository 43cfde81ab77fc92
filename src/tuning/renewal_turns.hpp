#pragma once

#include <cstdint>
#include <optional>

#include "kernels/math/block_steps.hpp"

namespace grove {

/// Which of the steps that might renew trees (TreeRenewal) do. To cut the trees of few particles takes a GPU
/// nearly as long as those of ten times as many, and ranks then tell each other all of them anew, while a
/// walk through trees that have aged for one step takes little longer. So where few are active, and the step
/// before has renewed their trees, they are refitted. From counts alone, so the same on any number of ranks.
class RenewalTurns {
 public:
  /// All there is to save. Trivially copyable.
  struct State {
    std::int64_t last;  ///< the rung from which on the last step renewed trees; rung_count: it did not
  };

  /// few: BackendTraits::few_renewed.
  explicit RenewalTurns(Count few) : few_(few) {}
  State state() const { return state_; }
  void restore(const State& state) { state_ = state; }

  /// The rung from which on the step that comes renews trees, if it does. Once a step. from: the one from
  /// which on it might. particles: by rung. follows_cuts: of everything, which lead and so do not count here.
  std::optional<int> next(std::optional<int> from, const RungCounts& particles, bool follows_cuts);

 private:
  static constexpr State none{rung_count};

  Count few_;
  State state_ = none;
};

}  // namespace grove
