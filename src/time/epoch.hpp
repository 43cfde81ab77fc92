#pragma once

#include <cstdint>

#include "time/block_clock.hpp"

namespace grove {

/// For an epoch cuts stay at the same shares of cells, and the axes of these where they are. Cells that are
/// cut anew find their particles in the order of before, and on the same ranks, which is cheaper; new shares
/// and axes are what makes errors of forces average out.
///
/// An epoch takes 16 steps at least, and as long as a longest one: particles that make these share errors,
/// far from dense middles, and feel them once in each. With four in an epoch the angular momentum of a disk
/// galaxy changed twice as much (docs/measurements/accuracy.md). Trivially copyable.
struct Epoch {
  static constexpr std::int64_t least_steps = 16;

  std::int64_t number = 0;
  std::int64_t steps_before = 0;  ///< of all lengths, done before its first cuts
  BlockClock::State begun;        ///< when these came

  /// There are to be new cuts: true if they begin the next epoch, which then is this one.
  bool cut(std::int64_t steps_done, const BlockClock::State& now) {
    const std::int64_t steps = now.step - begun.step;
    const bool is_over =
        steps_done - steps_before >= least_steps && (steps > 1 || (steps == 1 && now.tick >= begun.tick));
    if (is_over) *this = {number + 1, steps_done, now};
    return is_over;
  }
};

}  // namespace grove
