#include "run_timeline.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace grove {
namespace {

ExpandingTime expanding_time(const Parameters& parameters) {
  if (!parameters.universe) return {};
  return {std::make_shared<Expansion>(*parameters.universe), parameters.time.step_ln_a.has_value()};
}

}  // namespace

Timeline timeline_of(const Parameters& parameters, double begin) {
  const TimeParameters& time = parameters.time;
  return {begin, time.end, time.step_ln_a.value_or(time.step), parameters.shown, expanding_time(parameters)};
}

Timeline timeline_of(const Parameters& parameters, double begin, double longest_step) {
  return Timeline::extended(begin, parameters.time.end, longest_step, parameters.shown,
                            expanding_time(parameters));
}

OutputTimes output_times_of(const Parameters& parameters, double begin, double end) {
  const OutputParameters& output = parameters.output;
  const DisplayUnits& shown = parameters.shown;
  if (output.times.empty()) return OutputTimes::regular(begin, end, output.every.value_or(0), shown);
  return OutputTimes::listed(output.times, begin, end,
                             [&](double time) { return moment_text(time, parameters); });
}

std::string moment_text(double time, const Parameters& parameters) {
  std::optional<Expansion> expansion;
  if (parameters.universe) expansion.emplace(*parameters.universe, largest_scale_factor);
  return moment_text(time, parameters.shown, expansion ? &*expansion : nullptr);
}

double time_of(const SnapshotHeader& header, const Parameters& parameters) {
  return parameters.universe ? Expansion(*parameters.universe).time(header.time) : header.time;
}

}  // namespace grove
