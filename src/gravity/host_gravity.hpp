#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "forest/forest.hpp"
#include "gravity/gravity_storage.hpp"
#include "gravity/tree_exchange.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/record.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Particles and trees in the memory of the host.
class HostGravity : public GravityStorage {
 public:
  /// particles: those of the own leaves, leaf by leaf as Domain::leaf_begin says; new trees reorder them
  /// inside leaves. records: as decompose() gives them, used up by new trees; the particles may then be in
  /// any order before. Empty: they are made. All must outlive this.
  HostGravity(const Communicator& comm, const GravityParameters& parameters, Particles& particles,
              Array<Record>& records)
      : comm_(comm), parameters_(parameters), particles_(particles), records_(records) {}

  Sums reduce(bool with_median, float last_median) const override;
  FarParticle farthest() const override { return farthest_particle(comm_, particles_); }
  void grow(const Domain& domain, PhaseTimers& timers) override;
  void refit(const GravitySetup& setup, const Domain& domain, const RefitPlan& plan,
             PhaseTimers& timers) override;
  std::string fault_of_separations(const GravitySetup&) const override { return lost_separation_; }
  /// Which groups walk these tell by themselves.
  void begin_walk(const GravitySetup&, const Domain&, int first_active, Selections) override {
    first_active_ = first_active;
  }
  void publish(const GravitySetup& setup, const Domain& domain, Selections selections,
               PhaseTimers& timers) override;
  void select(const GravitySetup& setup, const Domain& domain) override;
  WalkCounts walk_own(const GravitySetup& setup, PhaseTimers& timers) override;
  Imported import(const GravitySetup& setup, const Domain& domain) override;
  WalkCounts walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) override;
  std::array<WalkCounts, 2> try_walk(const GravitySetup& setup, const Domain& domain) override;
  void end_walk() override;
  void sum_directly(const GravitySetup& setup, const Domain& domain, int first_active,
                    PhaseTimers& timers) override;
  void set_no_forces(int first_active) override;
  void find_far(const GravitySetup& setup, const Domain& domain) override;
  void add_far(const Domain& domain, int first_active) override;
  void remember(int first_active) override;
  Remembered remembered() const override { return remembered_; }
  void set_external(std::vector<ExternalPotential> potentials) override { external_ = std::move(potentials); }
  TableBytes tables() const override { return exchange_.tables(); }
  State state(const Domain&) const override { return {forest_.shape()}; }
  void restore(State state, const Domain& domain) override;

  ExternalField external() const { return {external_.data(), static_cast<int>(external_.size())}; }
  /// Frees the trees. The next evaluation has to grow new ones.
  void forget_trees() {
    forest_ = {};
    exchange_.forget();
  }
  /// Trees of the own leaves as they were grown or restored last.
  const TreeShapes& shapes() const { return forest_.shapes(); }
  TreeExchange& exchange() { return exchange_; }
  /// Collective. The trees of own leaves that others own from now on go there, as they are. from: the owners
  /// before; domain: with the new ones.
  void move_leaves(const LeafOwners& from, const Domain& domain);

 private:
  const Communicator& comm_;
  const GravityParameters& parameters_;
  const std::unique_ptr<TreeBuilder> builder_{tree_builder(parameters_)};
  Particles& particles_;
  Array<Record>& records_;
  std::vector<ExternalPotential> external_;
  Forest forest_;
  TreeExchange exchange_{comm_};
  std::optional<FarField<far_order>> far_field_;  ///< where cells do not act through expansions
  std::vector<FarMoments> far_moments_;           ///< of own leaves, where they do; else none
  Remembered remembered_;
  std::string lost_separation_;  ///< in the last refit
  int first_active_ = 0;         ///< of the walk
  Forest::OwnLeaves own_;        ///< during a walk
};

}  // namespace grove
