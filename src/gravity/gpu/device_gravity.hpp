#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "gravity/gpu/device_tree_exchange.hpp"
#include "gravity/gravity_storage.hpp"
#include "kernels/cuda/device/phase_ends.hpp"
#include "kernels/cuda/device/urgent_work.hpp"
#include "kernels/cuda/particles/leaf_pieces.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/trees/group_runs.hpp"
#include "kernels/cuda/walk/active.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/far_images.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Particles and trees in the memory of GPUs. Only scalars, cells and what leaves tell each other cross to
/// the host.
class DeviceGravity : public GravityStorage {
 public:
  /// particles, records: as for HostGravity; without records the particles lie leaf by leaf. exchange: made
  /// with the same communicator. All must outlive this. targets_per_warp: particles that a warp walks
  /// together through bisections where one warp walks a group and not several, group_size or twice that;
  /// default: cuda::default_targets_per_warp().
  DeviceGravity(const Communicator& comm, const DeviceExchange& exchange, const GravityParameters& parameters,
                DeviceParticles& particles, cuda::DeviceRecords& records, cuda::PhaseEnds& phases,
                std::optional<int> targets_per_warp)
      : comm_(comm),
        exchange_(exchange),
        parameters_(parameters),
        particles_(particles),
        records_(records),
        phases_(phases),
        targets_per_warp_(targets_per_warp),
        forest_(parameters),
        trees_(comm, exchange, parameters) {}

  Sums reduce(bool with_median, float last_median) const override;
  FarParticle farthest() const override { return farthest_particle(comm_, particles_.download()); }
  void grow(const Domain& domain, PhaseTimers& timers) override;
  void refit(const GravitySetup& setup, const Domain& domain, const RefitPlan& plan,
             PhaseTimers& timers) override;
  void begin_walk(const GravitySetup& setup, const Domain& domain, int first_active, Selections) override;
  void publish(const GravitySetup& setup, const Domain& domain, Selections, PhaseTimers& timers) override;
  void select(const GravitySetup& setup, const Domain& domain) override;
  WalkCounts walk_own(const GravitySetup&, PhaseTimers&) override { return {}; }
  Imported import(const GravitySetup& setup, const Domain& domain) override;
  WalkCounts walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) override;
  std::array<WalkCounts, 2> try_walk(const GravitySetup& setup, const Domain& domain) override;
  void end_walk() override {}  // there is room for the next walk's trees of others
  std::string fault_of_separations(const GravitySetup& setup) const override;
  TableBytes tables() const override { return trees_.tables(); }
  void sum_directly(const GravitySetup& setup, const Domain& domain, int first_active,
                    PhaseTimers& timers) override;
  void find_far(const GravitySetup& setup, const Domain& domain) override;
  void add_far(const Domain& domain, int first_active) override;
  void set_no_forces(int first_active) override;
  void remember(int first_active) override;
  Remembered remembered() const override;
  void set_external(std::vector<ExternalPotential> potentials) override;
  State state(const Domain&) const override { return {{{}, forest_.shapes()}}; }
  void restore(State state, const Domain& domain) override;

  /// Frees the trees. The next evaluation has to grow new ones.
  void forget_trees() { forest_.release(); }
  const DeviceForest& forest() const { return forest_; }
  /// RungWork::not_finite of the last forces, in the memory of the device; null: there were none.
  const Count* not_finite() const {
    return remembered_work_.size() > 0 ? &remembered_work_.data()->not_finite : nullptr;
  }
  /// Shares of groups that were split, in all walks of this rank until now.
  Count shares() const { return shares_; }
  DeviceTreeExchange& exchange() { return trees_; }
  /// In the memory of the host, and of the device.
  ExternalField external() const { return {external_.data(), static_cast<int>(external_.size())}; }
  ExternalField device_external() const { return {on_device_.data(), static_cast<int>(external_.size())}; }
  /// Collective. As HostGravity::move_leaves().
  void move_leaves(const LeafOwners& from, const Domain& domain);

 private:
  cuda::LeafParticleFields particles_of_leaves() const;
  DeviceTreeExchange::Own own(const GravitySetup& setup, const Domain& domain) const {
    return {setup, domain, forest_, particles_, codes_, far_moments_.data()};
  }
  int targets_per_warp(Count particles) const;
  void has_new_trees(const Domain& domain);
  template <class Work>
  void unless_at_fault(const Work& work);
  using Chosen = DeviceTreeExchange::Said;
  void choose_groups(const GravitySetup& setup, int first_active);
  void take_chosen();
  cuda::WalkTargets targets(const GravitySetup& setup, const Domain& domain, int first_active,
                            const Chosen& of_all_ranks);
  cuda::WalkableGroups walkable_groups() const;
  void choose_targets(const GravitySetup& setup, const Domain& domain, const Chosen& of_all_ranks);
  void begin_own_walk(const GravitySetup& setup);
  static std::uint32_t share_limit(const GravitySetup& setup, const Chosen& of_all_ranks);
  std::uint32_t room_for_shares(std::uint32_t groups) const;
  ForceOutput output() const;
  cuda::WalkSources own_sources() const;
  WalkCounts walk_along_ropes(const GravitySetup& setup, const Domain& domain) const;

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  const GravityParameters& parameters_;
  DeviceParticles& particles_;
  cuda::DeviceRecords& records_;
  cuda::PhaseEnds& phases_;
  std::optional<int> targets_per_warp_;
  std::vector<ExternalPotential> external_;
  cuda::DeviceArray<ExternalPotential> on_device_;  ///< external_
  DeviceForest forest_;
  DeviceTreeExchange trees_;

  std::uint32_t most_shares_ = cuda::WalkTargets{}.most_shares;  ///< room at least for those of a walk
  Count shares_ = 0;

  // As trees are.
  std::optional<Count> groups_of_all_ranks_;  ///< once they are known
  cuda::NodeCodes codes_ = cuda::bisection_codes;
  std::optional<cuda::DeviceDomainCells> domain_cells_;  ///< once trees have been renewed

  // The last forces.
  cuda::DeviceArray<cuda::RungWork> remembered_work_;
  mutable std::optional<cuda::Arriving<cuda::RungWork>> remembered_;  ///< until it is asked for
  mutable Remembered last_remembered_;

  // During an evaluation.
  std::optional<cuda::Arriving<std::uint64_t>> first_lost_;  ///< cuda::find_lost_separation()
  std::optional<FarField<far_order>> far_field_;             ///< where cells do not act through expansions
  std::optional<cuda::LeafPieces> pieces_;                   ///< where they do
  cuda::DeviceArray<FarMoments> far_moments_;                ///< of own leaves, where they do

  // During a walk.
  int first_active_ = 0;
  std::optional<cuda::ActiveSearch> search_;  ///< under way
  cuda::ActiveList active_;                   ///< groups to be walked
  cuda::GroupRuns runs_;                      ///< or the parts of them
  Chosen chosen_;                             ///< those that walk
  bool has_targets_ = false;
  cuda::WalkTargets targets_{};
  std::exception_ptr fault_;                ///< of this rank alone, which others have not heard of
  std::optional<cuda::OwnWalk> own_;        ///< goes on beside what comes next
  std::optional<cuda::UrgentWork> urgent_;  ///< what comes next
};

}  // namespace grove
