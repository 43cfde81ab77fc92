#include "run_timeline.hpp"

#include <memory>

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

double time_of(const SnapshotHeader& header, const Parameters& parameters) {
  return parameters.universe ? Expansion(*parameters.universe).time(header.time) : header.time;
}

}  // namespace grove
