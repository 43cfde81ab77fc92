#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"
#include "decomposition/blocks.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/block_excess.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "kernels/cuda/trees/block_work.hpp"
#include "kernels/math/opening.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Blocks of leaves: what their trees have cost, and new cuts of those that have come to cost too much. A
/// rank knows its own blocks, or, where these may be shared (have_shared_blocks()), all ranks know all.
class DeviceBlocks {
 public:
  /// exchange: made with the same communicator. Both must outlive this. tree: in the leaves.
  DeviceBlocks(const Communicator& comm, const DeviceExchange& exchange, LocalTreeKind tree)
      : comm_(comm), exchange_(exchange), tree_(tree) {}

  /// True if the domain has blocks that can be cut one by one. All below is for such domains.
  bool can_recut(const Domain& domain) const;

  /// Collective. All leaves have been cut.
  void begin(const Domain& domain);
  /// Collective. Ranks have other runs of leaves now. In any domain.
  void give_out(const Domain& domain);
  /// The step that is being walked has no work so far.
  void begin_step() { work_.assign(blocks_.size(), {}); }
  /// It was walked: its work on this rank, from the particles. Cost: cuda::sum_block_work().
  cuda::DeviceArray<cuda::BlockWork> work(const DeviceForest& forest, const DeviceParticles& particles) const;
  /// The place for that.
  std::span<cuda::BlockWork> of_step() { return work_; }
  /// Ranks have to sum it where blocks are shared: two numbers each.
  void join(const Domain& domain, JointReduction& joint);
  /// The step, with its work, was from this first active rung.
  void walked(int first_active);
  /// Of own blocks; of shared ones on the master alone.
  std::vector<BlockExcess::Block> state(const Domain& domain) const;
  /// Collective. Goes on from there, in a domain that had just these blocks. state: of all ranks.
  void restore(const Domain& domain, std::vector<BlockExcess::Block> state);
  /// Collective. See BlockExcess::due(); of the blocks of all ranks, the same on all.
  BlockExcess::Due due(const Domain& domain, int first_active, double cut_rate) const;
  /// Collective. grove::recut() where most blocks are due. domain (in/out): its cells change there.
  /// targets_per_warp: as for DeviceForest::cut().
  void recut(DeviceParticles& particles, DeviceForest& forest, Domain& domain, int first_active,
             double cut_rate, std::int32_t targets_per_warp);

 private:
  struct Known {
    std::vector<Block> blocks;
    BlockExcess excess;
  };
  void list(const Domain& domain, const std::vector<bool>& is_new);
  Known fetch(const Domain& domain) const;
  void list_leaves(const Domain& domain);
  void hear_of_others(Domain& domain) const;

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  LocalTreeKind tree_;
  std::vector<Block> blocks_;                       ///< own or all
  std::vector<std::int32_t> first_leaf_;            ///< Domain::first_leaf when they were listed
  cuda::DeviceArray<std::uint32_t> block_of_leaf_;  ///< of own leaves
  BlockExcess excess_;                              ///< of blocks_
  std::vector<cuda::BlockWork> work_;               ///< likewise, of the step that is walked
};

}  // namespace grove
