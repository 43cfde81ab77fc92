#include "time/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/errors.hpp"

namespace grove {
namespace {

/// True if so many steps lead from begin to end, as far as the constructor takes a step as it is; and a step
/// that came from a difference of times, such as of 1000000.3 and 1000000, has their rounding.
bool lead_to(double begin, double number, double step, double end) {
  const double rounding = 1e-12 * (end - begin) + number * rounding_of_times(begin, end);
  return number >= 1 && std::abs(begin + number * step - end) <= rounding;
}

/// The end of so many steps in as few digits as are taken for it when they are read.
std::string text_of_end(double begin, double number, double step, const DisplayUnits& shown) {
  const double end = begin + number * step, factor = shown.factor(dimension::time);
  std::string text;
  for (int digits = 6; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    text = shown.text(end, dimension::time, digits);
    if (lead_to(begin, number, step, std::stod(text) / factor)) break;
  }
  return text;
}

}  // namespace

// begin + i every has 3 roundings: every, the product, the sum; begin + count step has 5: end, the span, the
// step, the product, the sum. Each is at most half a last bit of the largest time, those of spans, which may
// be twice as long, twice that: 13 halves.
double rounding_of_times(double begin, double end) {
  return 8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin), std::abs(end));
}

Timeline::Timeline(double begin, double end, double longest_step, const DisplayUnits& shown)
    : begin_(begin), end_(end) {
  const auto text = [&](double time) { return shown.text(time, dimension::time); };
  if (!(begin < end))
    throw InputError(fmt::format(
        "time.end = {} must be later than the begin, {} (time.begin, else the time of the snapshot)",
        text(end), text(begin)));
  if (!(longest_step > 0))
    throw InputError(fmt::format("time.step = {} must be positive", text(longest_step)));
  // A step that divides the span up to rounding is taken as it is.
  const double span = (end - begin) * (1 - 1e-12) - rounding();
  const double steps = std::max(1.0, std::ceil(span / longest_step));
  if (!(steps < 9007199254740992.0))
    throw InputError(fmt::format("time.step = {} would need {:g} steps to time.end = {}", text(longest_step),
                                 steps, text(end)));
  steps_ = static_cast<std::int64_t>(steps);
  step_ = (end - begin) / steps;
}

Timeline Timeline::extended(double begin, double end, double step, const DisplayUnits& shown) {
  const double number = std::round((end - begin) / step);
  if (lead_to(begin, number, step, end)) return {begin, end, step, static_cast<std::int64_t>(number)};
  const double before = std::max(1.0, std::floor((end - begin) / step));
  throw InputError(fmt::format(
      "the longest steps have been of {}: give a time.end that is a whole number of these after {}, such as "
      "{} or {}, not {}",
      shown.text(step, dimension::time, 12), shown.text(begin, dimension::time),
      text_of_end(begin, before, step, shown), text_of_end(begin, before + 1, step, shown),
      shown.text(end, dimension::time, 12)));
}

double Timeline::same() const { return std::max(1e-9 * step_, rounding()); }

double Timeline::time(std::int64_t count) const {
  return count == steps_ ? end_ : begin_ + static_cast<double>(count) * step_;
}

double Timeline::time(std::int64_t count, std::int64_t tick, std::int64_t ticks) const {
  if (tick == 0 || tick == ticks) return time(count + (tick == ticks));
  return begin_ +
         (static_cast<double>(count) + static_cast<double>(tick) / static_cast<double>(ticks)) * step_;
}

}  // namespace grove
