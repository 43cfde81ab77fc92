#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/display_units.hpp"
#include "cosmology/expansion.hpp"

namespace grove {

/// Times of a run that differ by no more are the same, computed in two ways.
double rounding_of_times(double begin, double end);

/// A time as messages say it: "5.9 Gyr", in expanding space "5.9 Gyr (z = 1)". expansion: none if space is
/// static.
std::string moment_text(double time, const DisplayUnits& shown, const Expansion* expansion);

/// The expansion of space in which a run takes place, and what its longest steps have in common.
struct ExpandingTime {
  std::shared_ptr<const Expansion> expansion;  ///< none: space is static
  bool even_in_logarithm = false;  ///< all longest steps have the same growth of ln a, not the same time
};

/// The longest steps of a run, all of the same length in time or, where space expands, in the logarithm of
/// the scale factor. Times are computed from the number of the step, never accumulated; with an expansion
/// they are those since a = 0.
class Timeline {
 public:
  /// Steps of at most `longest_step`, up to rounding, of equal length, such that the last one ends at `end`.
  /// begin, end: times. longest_step: time, or of ln a. InputError unless begin < end and 0 < longest_step,
  /// or if there were more than 2^53 steps. shown: what its message gives times in.
  Timeline(double begin, double end, double longest_step, const DisplayUnits& shown = DisplayUnits::none(),
           ExpandingTime expanding = {});

  /// Steps of exactly this length, which a run had so far, to another end. InputError unless that is a whole
  /// number of them after the begin, up to rounding.
  static Timeline extended(double begin, double end, double step,
                           const DisplayUnits& shown = DisplayUnits::none(), ExpandingTime expanding = {});

  std::int64_t steps() const { return steps_; }
  /// Length that all longest steps share: time, or growth of ln a.
  double step() const { return step_; }
  double begin() const { return begin_time_; }
  double end() const { return end_time_; }
  double rounding() const;
  /// Times of a user and of a step that are no further apart are meant to be the same.
  double same() const;
  /// Time after `count` steps; exactly end() after the last.
  double time(std::int64_t count) const;
  /// Time after `count` steps and this part of the next one, tick of ticks.
  double time(std::int64_t count, std::int64_t tick, std::int64_t ticks) const;
  /// Longest steps from the begin to a time.
  double steps_to(double time) const;
  /// Time that the longest step after `count` others takes.
  double length(std::int64_t count) const;

  /// None: space is static.
  const Expansion* expansion() const { return expanding_.expansion.get(); }
  bool is_even_in_logarithm() const { return expanding_.even_in_logarithm; }
  /// The scale factor then; where space is static 1.
  double scale_factor(std::int64_t count, std::int64_t tick, std::int64_t ticks) const;

 private:
  Timeline(double begin, double end, double step, std::int64_t steps, ExpandingTime expanding);
  double place_of(double time) const;
  double time_at(double place) const;
  double place(std::int64_t count, std::int64_t tick, std::int64_t ticks) const;

  ExpandingTime expanding_;
  double begin_time_, end_time_;
  double begin_, end_, step_;  ///< times or ln a
  std::int64_t steps_;
};

}  // namespace grove
