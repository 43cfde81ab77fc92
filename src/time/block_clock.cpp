#include "time/block_clock.hpp"

#include <bit>
#include <cmath>

namespace grove {

int BlockClock::first_active() const {
  return state_.tick == 0 ? 0 : deepest_rung - std::countr_zero(static_cast<std::uint64_t>(state_.tick));
}

BlockClock::Span BlockClock::span(int rung) const {
  const std::int64_t begin = state_.tick & ~(ticks_of(rung) - 1);
  return {begin, begin + ticks_of(rung)};
}

/// In static space.
double BlockClock::duration(std::int64_t ticks) const {
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_step) * timeline_.step();
}

/// From now on, over so many ticks, which may be negative.
Expansion::Factors BlockClock::factors(double ticks) const {
  const Expansion& expansion = *timeline_.expansion();
  const double a = scale_factor(), length = ticks / static_cast<double>(ticks_per_step) * timeline_.step();
  return expansion.factors(a, timeline_.is_even_in_logarithm() ? length : expansion.growth(a, length));
}

double BlockClock::step_of(int rung) const {
  return timeline_.is_even_in_logarithm() ? factors(static_cast<double>(ticks_of(rung))).time
                                          : duration(ticks_of(rung));
}

/// sign: -1 of the steps that end now.
Kick BlockClock::half_kick(double sign) const {
  Kick kick{.first_active = first_active(), .factor = {}};
  for (int rung = kick.first_active; rung < rung_count; ++rung)
    kick.factor.of[rung] = timeline_.expansion()
                               ? sign * factors(0.5 * sign * static_cast<double>(ticks_of(rung))).kick
                               : 0.5 * step_of(rung);
  return kick;
}

Kick BlockClock::opening_kick() const { return half_kick(1); }
Kick BlockClock::closing_kick() const { return half_kick(-1); }

Drift BlockClock::drift(Integrator integrator, int deepest) const {
  if (timeline_.expansion())
    return {.factor = factors(static_cast<double>(ticks_of(deepest))).drift, .has_lag = false, .lag = {}};
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

ComingSteps BlockClock::coming(int deepest) const {
  ComingSteps coming;
  coming.drift = drift(Integrator::leapfrog, deepest).factor;
  BlockClock later = *this;
  for (int& rung : coming.first_active) {
    rung = later.first_active();
    later.advance(deepest);
  }
  return coming;
}

BlockClock::Inside BlockClock::inside(bool is_ending) const {
  if (timeline_.expansion()) return comoving_inside(is_ending);
  Inside inside;
  const int first = first_active();
  for (int rung = 0; rung < rung_count; ++rung) {
    const Span span = this->span(rung);
    const double step = step_of(rung), into = duration(state_.tick - span.begin);
    if (rung >= first) {
      inside.since_middle.of[rung] = is_ending ? 0.5 * step : 0;
      continue;
    }
    inside.since_middle.of[rung] = into - 0.5 * step;
    inside.behind.of[rung] = 0.5 * into * (step - into);
  }
  return inside;
}

BlockClock::Inside BlockClock::comoving_inside(bool is_ending) const {
  Inside inside;
  const int first = first_active();
  const double a = scale_factor();
  for (int rung = 0; rung < rung_count; ++rung) {
    if (rung >= first) {
      inside.since_middle.of[rung] =
          is_ending ? -factors(-0.5 * static_cast<double>(ticks_of(rung))).kick : 0;
      continue;
    }
    const Span span = this->span(rung);
    const auto begin = static_cast<double>(span.begin - state_.tick),
               end = static_cast<double>(span.end - state_.tick);
    inside.since_middle.of[rung] = -factors(0.5 * (begin + end)).kick;
    inside.behind.of[rung] = -0.5 * factors(begin).time * factors(end).time / (a * a * a);
  }
  return inside;
}

/// The prediction of leapfrogs. Along the way of a particle between kicks momentum changes by g dt / a, and
/// places by that over a^2: a parabola, as a hardly changes in a step.
Prediction BlockClock::comoving_prediction(double to) const {
  const Expansion& expansion = *timeline_.expansion();
  const double a = scale_factor(), ahead = to - time();
  const auto over = [&](double time) { return expansion.factors(a, expansion.growth(a, time)); };
  const double middle = a * std::exp(expansion.growth(a, 0.5 * ahead));
  Prediction result{.ahead = over(ahead).drift, .position = {}, .velocity = {}};
  const int first = first_active();
  for (int rung = 0; rung < rung_count; ++rung) {
    if (rung >= first) {  // synchronised
      result.position.of[rung] = 0.5 * ahead * ahead / (middle * middle * middle);
      result.velocity.of[rung] = over(ahead).kick;
      continue;
    }
    const Span span = this->span(rung);
    const double begin = time_at(span.begin), end = time_at(span.end);
    const double half =
        factors(0.5 * static_cast<double>(span.begin + span.end) - static_cast<double>(state_.tick)).kick;
    // The leapfrog is on the line now.
    result.position.of[rung] = -0.5 * (to - begin) * (end - to) / (middle * middle * middle);
    result.velocity.of[rung] = over(ahead).kick - half;
  }
  return result;
}

Prediction BlockClock::prediction(Integrator integrator, double to) const {
  if (timeline_.expansion()) return comoving_prediction(to);
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
