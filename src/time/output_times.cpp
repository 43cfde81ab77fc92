#include "time/output_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "time/timeline.hpp"

namespace grove {

OutputTimes OutputTimes::regular(double begin, double end, double every, const DisplayUnits& shown) {
  std::vector<double> times{begin};
  if (every > 0) {
    // A last interval that is empty up to rounding would give two snapshots of the end.
    const double span = (end - begin) * (1 - 1e-12) - rounding_of_times(begin, end);
    const double intervals = std::ceil(span / every);
    if (!(intervals <= 1e6))
      throw InputError(fmt::format("output.every = {} would write {:g} snapshots; at most 1e6",
                                   shown.text(every, dimension::time), intervals));
    for (double i = 1; i < intervals; ++i) times.push_back(begin + i * every);
  }
  times.push_back(end);
  return OutputTimes(std::move(times));
}

OutputTimes OutputTimes::listed(std::vector<double> times, double begin, double end, const TimeText& text) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (const double time : times)
    if (!(time >= begin && time <= end))
      throw InputError(
          fmt::format("output.times: {} lies outside the run, {} to {}", text(time), text(begin), text(end)));
  return OutputTimes(std::move(times));
}

std::size_t OutputTimes::count_before(double time) const {
  return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
}

std::size_t OutputTimes::count_passed(double now, double last, double same) const {
  return std::max(count_before(last + same), count_before(now - same));
}

}  // namespace grove
