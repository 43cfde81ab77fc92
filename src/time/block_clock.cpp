#include "time/block_clock.hpp"

#include <bit>

namespace grove {

int BlockClock::first_active() const {
  return state_.tick == 0 ? 0 : deepest_rung - std::countr_zero(static_cast<std::uint64_t>(state_.tick));
}

BlockClock::Span BlockClock::span(int rung) const {
  const std::int64_t begin = state_.tick & ~(ticks_of(rung) - 1);
  return {begin, begin + ticks_of(rung)};
}

double BlockClock::duration(std::int64_t ticks) const {
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_step) * timeline_.step();
}

Kick BlockClock::half_kick() const {
  Kick kick{.first_active = first_active(), .factor = {}};
  for (int rung = kick.first_active; rung < rung_count; ++rung) kick.factor.of[rung] = 0.5 * step_of(rung);
  return kick;
}

Drift BlockClock::drift(Integrator integrator, int deepest) const {
  const std::int64_t to = state_.tick + ticks_of(deepest);
  Drift drift{.factor = step_of(deepest), .has_lag = false, .lag = {}};
  if (integrator == Integrator::leapfrog) return drift;
  for (int rung = 0; rung <= deepest; ++rung) {
    const Span span = this->span(rung);
    // Twice the time from the middle of the drift to the middle of the step.
    const std::int64_t ticks = span.begin + span.end - state_.tick - to;
    drift.lag.of[rung] = 0.5 * duration(ticks);
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
  for (int rung = 0; rung < rung_count; ++rung) {
    if (rung >= first) {  // synchronised
      result.position.of[rung] = 0.5 * result.ahead * result.ahead;
      result.velocity.of[rung] = result.ahead;
      continue;
    }
    const Span span = this->span(rung);
    const double step = step_of(rung), now = duration(state_.tick - span.begin), then = now + result.ahead;
    // The distance of the parabola through the step from the straight line; the leapfrog is on the line now.
    const auto below = [step](double into) { return 0.5 * into * (step - into); };
    result.position.of[rung] = integrator == Integrator::leapfrog ? -below(then) : below(now) - below(then);
    result.velocity.of[rung] = then - 0.5 * step;
  }
  return result;
}

}  // namespace grove
