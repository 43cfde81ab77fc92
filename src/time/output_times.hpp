#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/display_units.hpp"

namespace grove {

/// How messages say a time.
using TimeText = std::function<std::string(double)>;

/// When to write snapshots: at regular times counted from the begin of the run, or at listed ones.
class OutputTimes {
 public:
  /// begin, begin + every, ... up to `end`, and `end` itself. every = 0: begin and end alone.
  static OutputTimes regular(double begin, double end, double every,
                             const DisplayUnits& shown = DisplayUnits::none());
  /// The given times in ascending order. InputError: one outside begin..end.
  static OutputTimes listed(std::vector<double> times, double begin, double end, const TimeText& text);

  /// How many are earlier than a time.
  std::size_t count_before(double time) const;

  /// How many will not be written any more by a run that is at `now` and wrote the last one of `last`, which
  /// need be none of these. same: times that are no further apart are one.
  std::size_t count_passed(double now, double last, double same) const;

  const std::vector<double>& all() const { return times_; }  ///< ascending, no two equal

 private:
  explicit OutputTimes(std::vector<double> times) : times_(std::move(times)) {}
  std::vector<double> times_;
};

}  // namespace grove
