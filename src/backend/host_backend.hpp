#pragma once

#include "backend/backend.hpp"

namespace grove {

/// Particles in the memory of the host; kernels of the Kokkos backend.
class HostBackend : public Backend {
 public:
  HostBackend(const Communicator& comm, Particles particles, const GravityParameters& gravity)
      : comm_(comm), particles_(std::move(particles)), gravity_(comm, gravity) {}

  Domain decompose(const DecompositionParameters& parameters, const std::optional<Box>& previous,
                   DecompositionReport& report) override;
  ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers) override;
  BlockExcess::Due due(const Domain&, int) const override { return {}; }
  bool rebuild(Domain&, int, PhaseTimers&) override { return true; }
  LevelCounts choose_levels(const StepRule& rule, int first_active) override;
  void kick(const Kick& kick) override;
  void drift(const Drift& drift) override;
  /// Per particle growth of the trees takes 25 ns and decomposition 30 ns on a core that makes 1.5
  /// interactions a nanosecond (the merger of 10^4 particles).
  RepairRates repair_rates() const override { return {35, 80, 0}; }
  Totals totals(const Domain& domain) const override;
  AuditResult audit(const Domain& domain, Count sample) const override;
  void show(const Prediction* to, const std::function<void(const Particles&)>& use) override;

 private:
  const Communicator& comm_;
  Particles particles_;
  Array<Record> records_;  ///< of the particles, from decompose() to the trees
  Gravity gravity_;
};

}  // namespace grove
