#pragma once

#include <cstdint>

#include "kernels/math/coming_steps.hpp"
#include "kernels/math/leapfrog.hpp"
#include "time/timeline.hpp"

namespace grove {

/// The time of a run under block time steps on its timeline, in whole numbers: every longest step has
/// 2^deepest_rung ticks, and a particle of rung k is synchronised when 2^(deepest_rung - k) divides them.
///
/// Durations change velocities and positions. They are differences of ticks: relative to their own
/// length exact, however late it is and however short they are. Where space expands, integrals of dt / a and
/// dt / a^2 take their places (Expansion), as exactly.
class BlockClock {
 public:
  static constexpr std::int64_t ticks_per_step = std::int64_t{1} << deepest_rung;
  static constexpr std::int64_t ticks_of(int rung) { return ticks_per_step >> rung; }

  /// All there is to save, beside the timeline. Trivially copyable.
  struct State {
    std::int64_t step = 0;  ///< the longest one
    std::int64_t tick = 0;  ///< of it
  };

  explicit BlockClock(const Timeline& timeline) : timeline_(timeline) {}
  BlockClock(const Timeline& timeline, const State& state) : timeline_(timeline), state_(state) {}
  const State& state() const { return state_; }

  std::int64_t steps_done() const { return state_.step; }  ///< of the longest ones
  /// These, and what is done of the next one.
  double longest_steps() const {
    return static_cast<double>(state_.step) +
           static_cast<double>(state_.tick) / static_cast<double>(ticks_per_step);
  }
  bool is_synchronised() const { return state_.tick == 0; }
  bool is_done() const { return state_.step == timeline_.steps(); }
  double time() const { return time_at(state_.tick); }
  /// Time that a step of a rung takes which begins now.
  double step_of(int rung) const;
  /// Time when a step of this rung, of those that begin or go on now, ends.
  double end_of(int rung) const { return time_at(state_.tick + ticks_of(rung)); }

  /// The longest steps that begin now, and that end now if any does, are of this rung.
  int first_active() const;

  /// The scale factor now; where space is static 1.
  double scale_factor() const { return timeline_.scale_factor(state_.step, state_.tick, ticks_per_step); }

  /// The half kick of the steps that begin now, and of those that end now.
  Kick opening_kick() const;
  Kick closing_kick() const;
  /// To the end of the shortest steps. deepest: the deepest rung that has particles.
  Drift drift(Integrator integrator, int deepest) const;
  /// Goes on to there.
  void advance(int deepest);
  /// The step that ends now, and those after it.
  ComingSteps coming(int deepest) const;

  /// Where particles are that are not synchronised, by the rung of the step that holds the present: their
  /// velocity is that of the middle of the step, `since_middle` ago, and under leapfrogs their place is
  /// `behind` times the acceleration ahead of a parabola through the step. is_ending: steps that end now have
  /// not ended yet; else rungs from first_active() on are synchronised.
  struct Inside {
    RungTable since_middle{};  ///< time; where space expands the integral of dt / a
    RungTable behind{};        ///< time squared
  };
  Inside inside(bool is_ending) const;

  /// From the particles as they are now, rungs chosen but not kicked, to what they are at a time before the
  /// next advance.
  Prediction prediction(Integrator integrator, double time) const;

 private:
  /// The step of a rung that holds the present; begins now, if one does.
  struct Span {
    std::int64_t begin, end;  ///< ticks
  };
  Span span(int rung) const;
  double time_at(std::int64_t tick) const { return timeline_.time(state_.step, tick, ticks_per_step); }
  double duration(std::int64_t ticks) const;
  Expansion::Factors factors(double ticks) const;
  Kick half_kick(double sign) const;
  Prediction comoving_prediction(double time) const;
  Inside comoving_inside(bool is_ending) const;

  Timeline timeline_;
  State state_;
};

}  // namespace grove
