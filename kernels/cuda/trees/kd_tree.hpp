#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/in_parts.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// The particles of leaves, in leaf order. Device memory.
struct KdParticles {
  const DeviceRecords& records;
  const ParticleId* id;  ///< by Record::index, and mass likewise
  InParts<double> mass;
};

/// kd-trees of leaves of any size, all at once: the same nodes in the same order as grove::kd_tree_builder()
/// makes on the host, bit for bit (kernels/math/kd_cut.hpp).
///
/// Large nodes are cut level by level, all of a level at once, in pieces of 1024 particles, a block each;
/// small ones and all below them by one warp, in shared memory. A cut is stored at the first particle on its
/// right, where no other can be, and how many nodes that are divided begin at a particle, there: the running
/// sums of these number the nodes, depth first.
///
/// Keeps its memory until release(): some 75 bytes per particle. Cost: 32 bytes of traffic per particle and
/// level of large nodes, two launches per level; below them a pass of a warp over each node's particles, and
/// where it sorts them one over all pairs.
class KdTreeBuilder {
 public:
  KdTreeBuilder(KdSplit split, std::int32_t bucket);
  ~KdTreeBuilder();

  /// leaf_begin (host): first record of each leaf, length leaves + 1, below 2^31. order (out, device):
  /// indices of the particles in tree order. links (out, device): as long as the nodes or longer, as
  /// TreeShapes has them. Returns the first node of each leaf, length leaves + 1.
  std::vector<Count> build(std::span<const Count> leaf_begin, const KdParticles& particles,
                           std::uint32_t* order, DeviceArray<NodeLinks>& links);

  /// Gives the memory back. How deep large nodes lay and how many small ones there were stays known, which
  /// saves the next trees a wait or a second try.
  void release();

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace grove::cuda
