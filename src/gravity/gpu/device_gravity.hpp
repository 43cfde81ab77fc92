#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/gpu/device_blocks.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "gravity/gravity.hpp"
#include "kernels/cuda/let/let_selection.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/group_runs.hpp"
#include "kernels/cuda/walk/active.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "particles/gpu/device_particles.hpp"
#include "tuning/block_excess.hpp"

namespace grove {

/// Gravity on particles in the memory of GPUs: what Gravity does on the host, pass for pass. Every bit of the
/// result is the same for any number of ranks; beside the host's it differs by rounding, where pairs of
/// groups are walked (cuda::default_targets_per_warp()) within the error of the tree.
class DeviceGravity {
 public:
  /// exchange: made with the same communicator. All must outlive this. targets_per_warp: particles that a
  /// warp walks together through bisections where one warp walks a group and not several, group_size or twice
  /// that; default: cuda::default_targets_per_warp().
  DeviceGravity(const Communicator& comm, const DeviceExchange& exchange, const GravityParameters& parameters,
                std::optional<int> targets_per_warp = {})
      : comm_(comm),
        exchange_(exchange),
        parameters_(parameters),
        targets_per_warp_(targets_per_warp),
        forest_(parameters),
        blocks_(comm, exchange, parameters.tree),
        critical_separation_(parameters.critical_separation) {}

  const GravityParameters& parameters() const { return parameters_; }
  /// As Gravity::set_external().
  void set_external(std::vector<ExternalPotential> potentials);
  /// In the memory of the host, and of the device.
  ExternalField external() const { return {external_.data(), static_cast<int>(external_.size())}; }
  ExternalField device_external() const { return {on_device_.data(), static_cast<int>(external_.size())}; }

  /// As Gravity::evaluate(). records: as decompose() gives them, used up; none: the particles lie leaf by
  /// leaf.
  ForceReport evaluate(DeviceParticles& particles, const Domain& domain, cuda::DeviceRecords records,
                       const EvaluationPlan& plan, PhaseTimers& timers);

  /// Whether recut() is to be had.
  bool can_recut(const Domain& domain) const { return blocks_.can_recut(domain); }
  /// See DeviceBlocks.
  BlockExcess::Due due(int first_active, double cut_rate) const {
    return blocks_.due(first_active, cut_rate);
  }
  /// Collective. Cuts anew where most blocks are due. domain (in/out): of the last
  /// evaluation; its cells change there.
  void recut(DeviceParticles& particles, Domain& domain, int first_active, double cut_rate,
             PhaseTimers& timers);

  /// Collective. As Gravity::move_leaves(). from: first leaf of each rank before; domain: with the new runs.
  void move_leaves(std::span<const std::int32_t> from, const Domain& domain);

  /// As those of Gravity, with the blocks; the trees' origins are none.
  GravityState state() const { return {setup_, critical_separation_}; }
  const DeviceForest& forest() const { return forest_; }
  const std::vector<BlockExcess::Block>& blocks() const { return blocks_.state(); }
  void restore(const GravityState& state, std::vector<BlockExcess::Block> blocks, TreeShapes trees,
               const Domain& domain);

 private:
  /// Sources of all leaves: the own ones, what was imported, and the roots of all leaves.
  struct Sources {
    cuda::DeviceArray<NodeCore> core;
    cuda::DeviceArray<NodeMoments> moments;
    cuda::DeviceArray<NodeLinks> links;
    cuda::DeviceArray<std::uint8_t> children;  ///< of octrees
    cuda::DeviceArray<SourceParticle> particles;
    cuda::DeviceArray<float> softening;
  };
  GravitySetup agree_on_setup(const DeviceParticles& particles, const Domain& domain) const;
  void grow(DeviceParticles& particles, const Domain& domain, cuda::DeviceRecords records,
            PhaseTimers& timers);
  void check_separations(const DeviceParticles& particles) const;
  void publish(const Domain& domain);
  void import(const Domain& domain, ForceReport& report);
  void exchange_trees(const Domain& domain, const cuda::LetSelection& selection,
                      std::vector<cuda::LeafPlace>& places, ForceReport& report);
  void sum_directly(const DeviceParticles& particles, int first_active) const;
  std::int32_t first_leaf(const Domain& domain) const;
  int targets_per_warp(Count particles) const;
  cuda::WalkTargets agree_on_targets(const Domain& domain, int first_active);
  cuda::WalkTargets split_targets(const Domain& domain);
  void tune_groups(const DeviceParticles& particles, const Domain& domain);
  cuda::WalkSources own_sources() const;
  cuda::WalkSources sources() const;
  WalkCounts walk_along_ropes(const DeviceParticles& particles, const Domain& domain, int first_active,
                              const cuda::WalkOutput& output) const;
  void walk_trees(const DeviceParticles& particles, const Domain& domain, const EvaluationPlan& plan,
                  ForceReport& report, PhaseTimers& timers);

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  GravityParameters parameters_;
  std::optional<int> targets_per_warp_;
  GravitySetup setup_;
  std::vector<ExternalPotential> external_;
  cuda::DeviceArray<ExternalPotential> on_device_;  ///< external_
  DeviceForest forest_;
  DeviceBlocks blocks_;
  double critical_separation_;  ///< of parts of groups; 0: not known yet
  cuda::ActiveList active_;     ///< groups to be walked, where not all are
  cuda::GroupRuns runs_;        ///< or the parts of them
  cuda::NodeCodes codes_ = cuda::bisection_codes;
  cuda::DeviceTop top_;
  bool has_new_cells_ = true;              ///< since top_ was made
  cuda::DeviceArray<LeafNotice> notices_;  ///< by leaf of the ORB, and the next likewise
  cuda::DeviceArray<SourceFrame> frames_;
  std::optional<Sources> joint_;  ///< where other ranks have leaves
};

}  // namespace grove
