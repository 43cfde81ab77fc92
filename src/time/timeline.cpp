#include "time/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

/// True if so many steps lead from begin to end, as far as the constructor takes a step as it is; and a step
/// that came from a difference of times, such as of 1000000.3 and 1000000, has their rounding.
bool lead_to(double begin, double number, double step, double end) {
  const double rounding = 1e-12 * (end - begin) + number * rounding_of_times(begin, end);
  return number >= 1 && std::abs(begin + number * step - end) <= rounding;
}

/// Behind a time where space expands.
std::string text_of_redshift(double time, const ExpandingTime& expanding) {
  if (!expanding.expansion) return {};
  return fmt::format(" (z = {:.6g})", redshift_of(expanding.expansion->scale_factor(time)));
}

/// The end of so many steps in as few digits as are taken for it when they are read.
std::string text_of_end(double begin, double number, double step, const DisplayUnits& shown,
                        const ExpandingTime& expanding) {
  const double place = begin + number * step, factor = shown.factor(dimension::time);
  if (expanding.even_in_logarithm) {
    const double time = expanding.expansion->time(std::exp(place));
    return shown.text(time, dimension::time, 15) + text_of_redshift(time, expanding);
  }
  const double end = place;
  std::string text;
  for (int digits = 6; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    text = shown.text(end, dimension::time, digits);
    if (lead_to(begin, number, step, std::stod(text) / factor)) break;
  }
  return text + text_of_redshift(end, expanding);
}

}  // namespace

// begin + i every has 3 roundings: every, the product, the sum; begin + count step has 5: end, the span, the
// step, the product, the sum. Each is at most half a last bit of the largest time, those of spans, which may
// be twice as long, twice that: 13 halves.
double rounding_of_times(double begin, double end) {
  return 8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin), std::abs(end));
}

std::string moment_text(double time, const DisplayUnits& shown, const Expansion* expansion) {
  const std::string text = shown.text(time, dimension::time);
  if (!expansion || !(time > 0)) return text;
  return fmt::format("{} (z = {:.6g})", text, redshift_of(expansion->scale_factor(time)));
}

Timeline::Timeline(double begin, double end, double step, std::int64_t steps, ExpandingTime expanding)
    : expanding_(std::move(expanding)),
      begin_time_(begin),
      end_time_(end),
      begin_(place_of(begin)),
      end_(place_of(end)),
      step_(step),
      steps_(steps) {}

Timeline::Timeline(double begin, double end, double longest_step, const DisplayUnits& shown,
                   ExpandingTime expanding)
    : Timeline(begin, end, longest_step, 0, std::move(expanding)) {
  const auto text = [&](double time) { return shown.text(time, dimension::time); };
  const auto moment = [&](double time) { return moment_text(time, shown, expansion()); };
  if (!(begin < end))
    throw InputError(fmt::format(
        "time.end = {} must be later than the begin, {} (time.begin, else the time of the snapshot){}",
        moment(end), moment(begin), expansion() ? "; a redshift is written z=0" : ""));
  if (expansion() && !(begin > 0))
    throw InputError(
        "the universe begins at time 0: give time.begin, such as z=49, where particles come from no file");
  if (!(longest_step > 0))
    throw InputError(fmt::format("time.step = {} must be positive", text(longest_step)));
  // A step that divides the span up to rounding is taken as it is.
  const double span = (end_ - begin_) * (1 - 1e-12) - rounding_of_times(begin_, end_);
  const double steps = std::max(1.0, std::ceil(span / longest_step));
  if (!(steps < 9007199254740992.0))
    throw InputError(fmt::format("time.step = {} would need {:g} steps to time.end = {}", text(longest_step),
                                 steps, text(end)));
  steps_ = static_cast<std::int64_t>(steps);
  step_ = (end_ - begin_) / steps;
}

Timeline Timeline::extended(double begin, double end, double step, const DisplayUnits& shown,
                            ExpandingTime expanding) {
  Timeline all(begin, end, step, 0, std::move(expanding));
  const double number = std::round((all.end_ - all.begin_) / step);
  if (lead_to(all.begin_, number, step, all.end_)) {
    all.steps_ = static_cast<std::int64_t>(number);
    return all;
  }
  const double before = std::max(1.0, std::floor((all.end_ - all.begin_) / step));
  throw InputError(fmt::format(
      "the longest steps have been of {}: give a time.end that is a whole number of these after {}, such as "
      "{} or {}, not {}",
      all.is_even_in_logarithm() ? fmt::format("{:.12g} in ln a", step)
                                 : shown.text(step, dimension::time, 12),
      shown.text(begin, dimension::time), text_of_end(all.begin_, before, step, shown, all.expanding_),
      text_of_end(all.begin_, before + 1, step, shown, all.expanding_),
      shown.text(end, dimension::time, 12) + text_of_redshift(end, all.expanding_)));
}

double Timeline::place_of(double time) const {
  return expanding_.even_in_logarithm ? std::log(expanding_.expansion->scale_factor(time)) : time;
}

double Timeline::time_at(double place) const {
  return expanding_.even_in_logarithm ? expanding_.expansion->time(std::exp(place)) : place;
}

double Timeline::place(std::int64_t count, std::int64_t tick, std::int64_t ticks) const {
  return begin_ +
         (static_cast<double>(count) + static_cast<double>(tick) / static_cast<double>(ticks)) * step_;
}

// Through a scale factor times go to a relative error of 1e-13 and back.
double Timeline::rounding() const {
  const double rounding = rounding_of_times(begin_time_, end_time_);
  return is_even_in_logarithm() ? std::max(rounding, 1e-12 * end_time_) : rounding;
}

double Timeline::same() const {
  return std::max(1e-9 * (is_even_in_logarithm() ? length(0) : step_), rounding());
}

double Timeline::time(std::int64_t count) const {
  if (count == steps_) return end_time_;
  return count == 0 ? begin_time_ : time_at(begin_ + static_cast<double>(count) * step_);
}

double Timeline::time(std::int64_t count, std::int64_t tick, std::int64_t ticks) const {
  if (tick == 0 || tick == ticks) return time(count + (tick == ticks));
  return time_at(place(count, tick, ticks));
}

double Timeline::steps_to(double time) const { return (place_of(time) - begin_) / step_; }

double Timeline::length(std::int64_t count) const {
  return is_even_in_logarithm() ? time(count + 1) - time(count) : step_;
}

double Timeline::scale_factor(std::int64_t count, std::int64_t tick, std::int64_t ticks) const {
  if (!expanding_.expansion) return 1;
  if (is_even_in_logarithm()) return std::exp(place(count, tick, ticks));
  return expanding_.expansion->scale_factor(time(count, tick, ticks));
}

}  // namespace grove
