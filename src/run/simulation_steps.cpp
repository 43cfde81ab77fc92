// Simulation: the steps that particles choose, and those that a run would not get on with.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/errors.hpp"
#include "comm/agreed.hpp"
#include "run/guard/gas_steps.hpp"
#include "simulation.hpp"

namespace grove {

PhysicalSummary Simulation::summary() {
  if (!has_rungs_) choose_rungs();
  const Totals all = totals();
  PhysicalSummary summary;
  backend_->show(nullptr, [&](const Particles& particles) {
    summary = physical_summary(comm_, particles, all, rung_costs_.particles, timeline_.length(0),
                               parameters_.gravity.gravitational_constant, parameters_.gravity.images.edge);
  });
  summary.gas = gas_to_blame({deepest_of_start, forces_.particles / 2});
  if (timeline_.expansion()) summary.scale_factor = clock_.scale_factor();
  return summary;
}

/// In expanding space physical accelerations are g / a^2, physical lengths a times comoving ones, and
/// physical velocities p / a.
StepRule Simulation::step_rule() const {
  const double a = clock_.scale_factor();
  StepRule rule = parameters_.time.rule(
      timeline_.length(std::min(clock_.steps_done(), timeline_.steps() - 1)), parameters_.softening(a));
  if (timeline_.expansion())
    for (double& length : rule.length) length *= a * a * a;
  rule.crossing = a * a;
  return rule;
}

/// Active particles of this rank choose their next rungs: how many are on which.
RungCounts Simulation::own_rungs() {
  const StepRule rule = step_rule();
  const RungCounts chosen = backend_->choose_rungs(rule, clock_.first_active());
  Gas* const gas = backend_->gas();
  if (!gas) return chosen;
  const BlockClock::Inside inside = clock_.inside(false);
  return gas->limit_rungs(
      domain_, rule, clock_.first_active(),
      {inside.since_middle, inside.behind, parameters_.time.integrator == Integrator::leapfrog});
}

/// The active particles choose their next steps.
void Simulation::choose_rungs() {
  const auto timer = timers_.time("advance");
  rung_costs_.particles = own_rungs();
  comm_.sum(std::span<Count>(rung_costs_.particles));
  has_rungs_ = true;
}

/// Set if gas makes steps too short.
std::optional<CourantStep> Simulation::gas_to_blame(const StepBound& bound) const {
  std::optional<CourantStep> shortest;
  if (!backend_->gas()) return shortest;
  backend_->show(nullptr, [&](const Particles& particles) {
    shortest =
        courant_step_to_blame(comm_, particles, parameters_.gas, step_rule(), clock_.scale_factor(), bound);
  });
  return shortest;
}

void Simulation::require_rungs() const {
  if (deepest() < deepest_rung) return;
  const std::optional<CourantStep> gas = gas_to_blame({deepest_rung - 1, 0});
  const DisplayUnits& shown = parameters_.shown;
  const Count wanting = rung_costs_.particles[deepest_rung];
  throw Agreed<InputError>(fmt::format(
      "at time {} {} of the particles {} a time step below 2^-{} of the longest, {}: {}, or time.min_step",
      time_text(), wanting, wanting == 1 ? "wants" : "want", deepest_rung - 1,
      shown.text(timeline_.length(clock_.steps_done()), dimension::time),
      gas ? "this is because of " + gas->text(parameters_.gas, shown)
          : "their accelerations are too large for their softening; give a larger gravity.softening or "
            "time.length"));
}

}  // namespace grove
