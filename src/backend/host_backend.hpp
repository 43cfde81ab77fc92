#pragma once

#include "backend/backend.hpp"
#include "gas/host_gas.hpp"
#include "gravity/host_gravity.hpp"

namespace grove {

/// Particles in the memory of the host; kernels of the host.
class HostBackend : public Backend {
 public:
  HostBackend(const Communicator& comm, Particles particles, const GravityParameters& gravity,
              const GasParameters& gas = {})
      : HostBackend(
            comm, std::move(particles), gravity,
            [&comm](const GravityParameters& parameters, Particles& own, Array<Record>& records) {
              return std::make_unique<HostGravity>(comm, parameters, own, records);
            },
            gas) {}

  Domain decompose(const DecompositionParameters& parameters, const Domain& previous,
                   DecompositionReport& report) override;
  std::vector<Count> leaf_work(const Domain& domain) const override;
  void move_leaves(Domain& domain, LeafOwners owners, PhaseTimers& timers) override;
  RungCounts choose_rungs(const StepRule& rule, int first_active) override;
  void kick(const Kick& kick) override;
  double drift(const Drift& drift, const Box* periodic) override;
  void wrap(const Box& box) override;
  std::function<Census()> census() const override;
  Totals totals(const Domain& domain) const override;
  AuditResult audit(const Domain& domain, Count sample, int first_active) const override;
  void show(const Prediction* to, const std::function<void(const Particles&)>& use,
            const FieldChoice& fields) override;
  const FriendFinder& friends() const override { return friends_; }
  const PowerEstimator& spectra() const override { return spectra_; }

 protected:
  void take(Particles particles) override { particles_ = std::move(particles); }
  /// Makes the storage of trees. It refers to the parameters, particles and records that it is given.
  using MakeTrees =
      std::function<std::unique_ptr<HostGravity>(const GravityParameters&, Particles&, Array<Record>&)>;
  /// With trees of another kind.
  HostBackend(const Communicator& comm, Particles particles, const GravityParameters& gravity,
              const MakeTrees& make, const GasParameters& gas = {});

 private:
  const Communicator& comm_;
  Particles particles_;
  Array<Record> records_;  ///< of the particles, from decompose() to the trees
  GravityParameters parameters_;
  std::unique_ptr<HostGravity> trees_;
  Gravity gravity_;
  HostGas gas_;
  HostFriends friends_;
  HostPower spectra_;
};

}  // namespace grove
