#pragma once

#include <cstdint>

#include "base/display_units.hpp"

namespace grove {

/// Times of a run that differ by no more are the same, computed in two ways.
double rounding_of_times(double begin, double end);

/// The longest steps of a run, all of the same length. Times are computed from the number of the step, never
/// accumulated.
class Timeline {
 public:
  /// Steps of at most `longest_step`, up to rounding, of equal length, such that the last one ends at `end`.
  /// InputError unless begin < end and 0 < longest_step, or if there were more than 2^53 steps. shown: what
  /// its message gives times in.
  Timeline(double begin, double end, double longest_step, const DisplayUnits& shown = DisplayUnits::none());

  /// Steps of exactly this length, which a run had so far, to another end. InputError unless that is a whole
  /// number of them after the begin, up to rounding.
  static Timeline extended(double begin, double end, double step,
                           const DisplayUnits& shown = DisplayUnits::none());

  std::int64_t steps() const { return steps_; }
  double step() const { return step_; }
  double begin() const { return begin_; }
  double end() const { return end_; }
  double rounding() const { return rounding_of_times(begin_, end_); }
  /// Times of a user and of a step that are no further apart are meant to be the same.
  double same() const;
  /// Time after `count` steps; exactly end() after the last.
  double time(std::int64_t count) const;
  /// Time after `count` steps and this part of the next one, tick of ticks.
  double time(std::int64_t count, std::int64_t tick, std::int64_t ticks) const;

 private:
  Timeline(double begin, double end, double step, std::int64_t steps)
      : begin_(begin), end_(end), step_(step), steps_(steps) {}

  double begin_, end_, step_;
  std::int64_t steps_;
};

}  // namespace grove
