#pragma once

#include "backend/backend.hpp"

namespace grove {

/// Particles in the memory of the host; kernels of the host.
class HostBackend : public Backend {
 public:
  HostBackend(const Communicator& comm, Particles particles, const GravityParameters& gravity)
      : comm_(comm), particles_(std::move(particles)), gravity_(comm, gravity) {}

  std::string name() const override { return "kokkos"; }
  void set_external(std::vector<ExternalPotential> potentials) override {
    gravity_.set_external(std::move(potentials));
  }
  Domain decompose(const DecompositionParameters& parameters, const std::optional<Box>& previous,
                   DecompositionReport& report) override;
  ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers) override;
  BlockExcess::Due due(const Domain&, int, double) const override { return {}; }
  bool rebuild(Domain&, int, double, PhaseTimers&) override { return true; }
  std::vector<Count> leaf_work(const Domain& domain) const override;
  void move_leaves(Domain& domain, std::vector<std::int32_t> first_leaf, PhaseTimers& timers) override;
  /// A first guess: a message or two; particles of 106 bytes and their trees, copied a few times, and those
  /// that stay are shifted along.
  MoveRates move_rates() const override { return {2e-4, 3e-7}; }
  LevelCounts choose_levels(const StepRule& rule, int first_active) override;
  void kick(const Kick& kick) override;
  void drift(const Drift& drift) override;
  /// Per particle a rebuild takes 60 ns more than a refit (sort 22, build 25, moments 14), with new cuts 80
  /// (sort 40), on a core that makes 1.24 interactions a nanosecond: medians by `tree_update` in timing.csv
  /// of grove run jobs/examples/merger.yml -P time.end=2.56 -P audit.every=0.
  TreeUpdateRates update_rates() const override { return {75, 0, 100, false}; }
  Census census() const override;
  Totals totals(const Domain& domain) const override;
  AuditResult audit(const Domain& domain, Count sample, int first_active) const override;
  void show(const Prediction* to, const std::function<void(const Particles&)>& use) override;
  BackendState state() const override { return {gravity_.state(), {}, gravity_.forest().shape()}; }
  void restore(const Domain& domain, Particles particles, BackendState state) override;

 private:
  const Communicator& comm_;
  Particles particles_;
  Array<Record> records_;  ///< of the particles, from decompose() to the trees
  Gravity gravity_;
};

}  // namespace grove
