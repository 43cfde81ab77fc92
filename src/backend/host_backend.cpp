#include "backend/host_backend.hpp"

#include <utility>

#include "time/leapfrog.hpp"

namespace grove {

Domain HostBackend::decompose(const DecompositionParameters& parameters, const std::optional<Box>& previous,
                              DecompositionReport& report) {
  gravity_.forget_trees();
  return grove::decompose(comm_, particles_, parameters, previous, report, &records_);
}

ForceReport HostBackend::evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers) {
  ForceReport report = gravity_.evaluate(particles_, domain, timers, std::move(records_), plan);
  records_ = {};
  return report;
}

LevelCounts HostBackend::choose_levels(const StepRule& rule, int first_active) {
  return grove::choose_levels(particles_, rule, first_active);
}
void HostBackend::kick(const Kick& kick) { grove::kick(particles_, kick); }
void HostBackend::drift(const Drift& drift) { grove::drift(particles_, drift); }

Totals HostBackend::totals(const Domain& domain) const { return compute_totals(comm_, particles_, domain); }

AuditResult HostBackend::audit(const Domain& domain, Count sample) const {
  return grove::audit(comm_, particles_, domain, gravity_.parameters(), sample);
}

void HostBackend::show(const Prediction* to, const std::function<void(const Particles&)>& use) {
  if (!to) return use(particles_);
  Array<Vec3d> position = particles_.position, velocity = particles_.velocity;
  predict(particles_, *to);
  use(particles_);
  particles_.position = std::move(position);
  particles_.velocity = std::move(velocity);
}

}  // namespace grove
