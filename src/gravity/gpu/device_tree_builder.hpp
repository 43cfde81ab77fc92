#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/in_parts.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/cuda/trees/leaf_groups.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove {

/// The particles of leaves that trees are grown over.
struct TreeParticles {
  const cuda::DeviceRecords& records;  ///< in leaf order
  const ParticleId* id;                ///< device, by Record::index, and mass likewise
  cuda::InParts<double> mass;
};

/// Grows and refits the trees of leaves in the memory of a GPU: all that kinds of trees differ in there. What
/// TreeBuilder and LeafMoments are on the host.
class DeviceTreeBuilder {
 public:
  virtual ~DeviceTreeBuilder() = default;

  /// The nodes that TreeBuilder::build() makes, bit for bit. leaf_begin: first record of each leaf, length
  /// leaves + 1. targets_per_warp: particles that will walk as one, see GroupCuts. order (out): indices in
  /// tree order; links (out): of all nodes. Returns the first node of each leaf, length leaves + 1.
  /// InputError: a leaf has more particles than such trees take.
  virtual std::vector<Count> build(std::span<const Count> leaf_begin, const TreeParticles& particles,
                                   std::int32_t targets_per_warp, cuda::DeviceArray<std::uint32_t>& order,
                                   cuda::DeviceArray<NodeLinks>& links) = 0;

  /// The groups of TreeBuilder::group(): of trees whose buckets end wherever a group is full those of
  /// make_full_groups(). places (in/out): of leaves, which get their groups; links: of their nodes.
  virtual cuda::LeafGroups group(std::span<cuda::LeafPlaces> places, const NodeLinks* links) const;

  /// As Forest::update(). groups, nodes: of all leaves of the trees.
  virtual void refit(const cuda::LeafParticleFields& particles, const GravityParameters& gravity,
                     const WalkUnits& units, double median_acceleration, const cuda::LeafTrees& trees,
                     std::uint32_t groups, std::uint32_t nodes) const = 0;
};

/// The builder of the trees that the parameters ask for.
std::unique_ptr<DeviceTreeBuilder> device_tree_builder(const GravityParameters& gravity);

}  // namespace grove
