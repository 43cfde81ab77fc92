#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// Octrees of leaves of any size, all at once: the same nodes in the same order as grove::octree_builder()
/// makes on the host, bit for bit (kernels/math/octree.hpp).
///
///   builder.sort(leaf_begin, records, ids);
///   const std::vector<Count> node_begin = builder.build(order.data(), links);
///
/// Keys under the number of the leaf are sorted by radix; cells are divided level by level, eight threads
/// each, by binary searches for the digits of their children. Every cell adds its children to a counter at
/// its first particle; the running sums of these are the numbers of the nodes.
///
/// Keeps its memory until release(): 32 bytes per particle, and some 60 per cell that is divided or bucket
/// that would be full. Cost of build(): a running sum over the particles; eight searches per cell; a few
/// launches per level.
class OctreeBuilder {
 public:
  /// bucket: particles of a node that is not divided, at most: 1 .. group_size.
  explicit OctreeBuilder(Curve curve, std::int32_t bucket = bucket_size);
  ~OctreeBuilder();

  /// leaf_begin (host): first record of each leaf, length leaves + 1, below 2^31. records, ids (device; ids
  /// by Record::index, nullptr: the index is the id): in leaf order; must stay until build() is done.
  void sort(std::span<const Count> leaf_begin, const DeviceRecords& records, const ParticleId* ids);

  /// order (out, device): indices of the particles in tree order. links (out, device): as long as the nodes
  /// or longer, as TreeShapes has them. Returns the first node of each leaf, length leaves + 1.
  std::vector<Count> build(std::uint32_t* order, DeviceArray<NodeLinks>& links);

  /// Gives the memory back, after build(). How many levels keys needed stays known, which saves a sort.
  void release();

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace grove::cuda
