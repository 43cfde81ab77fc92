#include "time/block_clock.hpp"

#include <bit>

namespace grove {

int BlockClock::first_active() const {
  return state_.tick == 0 ? 0 : deepest_level - std::countr_zero(static_cast<std::uint64_t>(state_.tick));
}

BlockClock::Span BlockClock::span(int level) const {
  const std::int64_t begin = state_.tick & ~(ticks_of(level) - 1);
  return {begin, begin + ticks_of(level)};
}

double BlockClock::duration(std::int64_t ticks) const {
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_step) * timeline_.step();
}

Kick BlockClock::half_kick() const {
  Kick kick{.first_active = first_active(), .factor = {}};
  for (int level = kick.first_active; level < time_levels; ++level)
    kick.factor.of[level] = 0.5 * step_of(level);
  return kick;
}

Drift BlockClock::drift(Integrator integrator, int deepest) const {
  const std::int64_t to = state_.tick + ticks_of(deepest);
  Drift drift{.factor = step_of(deepest), .has_lag = false, .lag = {}};
  if (integrator == Integrator::leapfrog) return drift;
  for (int level = 0; level <= deepest; ++level) {
    const Span span = this->span(level);
    // Twice the time from the middle of the drift to the middle of the step.
    const std::int64_t ticks = span.begin + span.end - state_.tick - to;
    drift.lag.of[level] = 0.5 * duration(ticks);
    drift.has_lag |= ticks != 0;
  }
  return drift;
}

void BlockClock::advance(int deepest) {
  state_.tick += ticks_of(deepest);
  if (state_.tick < ticks_per_step) return;
  state_.tick = 0;
  ++state_.step;
}

Prediction BlockClock::prediction(Integrator integrator, double to) const {
  Prediction result{.ahead = to - time(), .position = {}, .velocity = {}};
  const int first = first_active();
  for (int level = 0; level < time_levels; ++level) {
    if (level >= first) {  // synchronised
      result.position.of[level] = 0.5 * result.ahead * result.ahead;
      result.velocity.of[level] = result.ahead;
      continue;
    }
    const Span span = this->span(level);
    const double step = step_of(level), now = duration(state_.tick - span.begin), then = now + result.ahead;
    // The distance of the parabola through the step from the straight line; the leapfrog is on the line now.
    const auto below = [step](double into) { return 0.5 * into * (step - into); };
    result.position.of[level] = integrator == Integrator::leapfrog ? -below(then) : below(now) - below(then);
    result.velocity.of[level] = then - 0.5 * step;
  }
  return result;
}

}  // namespace grove
