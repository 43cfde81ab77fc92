#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/blocks.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/block_excess.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "kernels/math/opening.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// The blocks of leaves of all ranks: what their trees have cost, and new cuts of those that have come to
/// cost too much. All ranks know the same of all blocks.
class DeviceBlocks {
 public:
  /// exchange: made with the same communicator. Both must outlive this. tree: in the leaves.
  DeviceBlocks(const Communicator& comm, const DeviceExchange& exchange, LocalTreeKind tree)
      : comm_(comm), exchange_(exchange), tree_(tree) {}

  /// True if the domain has blocks that can be cut one by one. All below is for such domains.
  bool can_recut(const Domain& domain) const;

  /// All leaves have been cut.
  void begin(const Domain& domain);
  /// Ranks have other runs of leaves now.
  void give_out(const Domain& domain);
  /// Collective. A step was walked, from this first active rung: takes its work from the particles. Cost:
  /// cuda::sum_block_work(), and a sum over ranks of two numbers per block.
  void count(const DeviceForest& forest, const DeviceParticles& particles, int first_active);
  const std::vector<BlockExcess::Block>& state() const { return excess_.state(); }
  /// Goes on from there, in a domain that had just these blocks.
  void restore(const Domain& domain, std::vector<BlockExcess::Block> state);
  /// See BlockExcess::due(); of the blocks of all ranks, the same on all.
  BlockExcess::Due due(int first_active, double cut_rate) const {
    return excess_.due(first_active, cut_rate);
  }
  /// Collective. grove::recut() where most blocks are due. domain (in/out): its cells change there.
  /// targets_per_warp: as for DeviceForest::cut().
  void recut(DeviceParticles& particles, DeviceForest& forest, Domain& domain, int first_active,
             double cut_rate, std::int32_t targets_per_warp);

 private:
  void list(const Domain& domain, const std::vector<bool>& is_new);

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  LocalTreeKind tree_;
  std::vector<Block> blocks_;                       ///< of all ranks
  cuda::DeviceArray<std::uint32_t> block_of_leaf_;  ///< of own leaves
  BlockExcess excess_;                              ///< of all blocks
};

}  // namespace grove
