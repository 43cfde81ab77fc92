#include "backend/host_backend.hpp"

#include <utility>

#include "time/leapfrog.hpp"

namespace grove {

Domain HostBackend::decompose(const DecompositionParameters& parameters, const std::optional<Box>& previous,
                              DecompositionReport& report) {
  return grove::decompose(comm_, particles_, parameters, previous, report, &records_);
}

ForceReport HostBackend::evaluate(const Domain& domain, PhaseTimers& timers) {
  ForceReport report = gravity_.evaluate(particles_, domain, timers, std::move(records_));
  records_ = {};
  return report;
}

void HostBackend::kick(double factor) { grove::kick(particles_, factor); }
void HostBackend::drift(double factor) { grove::drift(particles_, factor); }

Totals HostBackend::totals(const Domain& domain) const { return compute_totals(comm_, particles_, domain); }

AuditResult HostBackend::audit(const Domain& domain, Count sample) const {
  return grove::audit(comm_, particles_, domain, gravity_.parameters(), sample);
}

void HostBackend::show(double ahead, const std::function<void(const Particles&)>& use) {
  if (ahead == 0) return use(particles_);
  Array<Vec3d> position = particles_.position, velocity = particles_.velocity;
  predict(particles_, ahead);
  use(particles_);
  particles_.position = std::move(position);
  particles_.velocity = std::move(velocity);
}

}  // namespace grove
