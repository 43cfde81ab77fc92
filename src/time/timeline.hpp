#pragma once

#include <cstdint>

namespace grove {

/// The longest steps of a run, all of the same length, and what a step means for velocities and positions.
///
/// Times are computed from the number of the step, never accumulated. Kick and drift factors are the elapsed
/// time here; in comoving coordinates they become integrals over the expansion, and only here.
class Timeline {
 public:
  /// Steps of at most `longest_step`, of equal length, such that the last one ends at `end`.
  /// InputError unless begin < end and 0 < longest_step, or if there were more than 2^53 steps.
  Timeline(double begin, double end, double longest_step);

  std::int64_t steps() const { return steps_; }
  double step() const { return step_; }
  double begin() const { return begin_; }
  double end() const { return end_; }
  /// Time after `count` steps; exactly end() after the last.
  double time(std::int64_t count) const;
  /// Time after `count` steps and this part of the next one, tick of ticks.
  double time(std::int64_t count, std::int64_t tick, std::int64_t ticks) const;

  /// Factor of the acceleration that changes the velocity from time t0 to t1.
  double kick(double t0, double t1) const { return t1 - t0; }
  /// Factor of the velocity that changes the position from time t0 to t1.
  double drift(double t0, double t1) const { return t1 - t0; }

 private:
  double begin_, end_, step_;
  std::int64_t steps_;
};

}  // namespace grove
