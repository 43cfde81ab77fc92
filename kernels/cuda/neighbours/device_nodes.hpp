#pragma once

#include <cstdint>
#include <span>

#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// The tree that neighbours are searched in, in device memory.
namespace grove::cuda {

/// The local trees of the own leaves, as they were cut. Device memory, but for the numbers.
struct LocalTrees {
  const LeafPlaces* leaves;  ///< [leaf_count]
  const NodeLinks* links;    ///< [nodes]
  std::uint32_t leaf_count, nodes, particles;
  std::int32_t largest_leaf;  ///< particles of the largest one
};

/// A node that is in no local tree: above the leaves, or of particles that were imported.
struct PlacedNode {
  std::uint32_t number;              ///< in the whole tree
  std::uint32_t next, first, count;  ///< NeighbourNode
};

/// The nodes of local trees and others, in the order of a search: NeighbourNodes of the host.
class DeviceNodes {
 public:
  /// Finds the order of the nodes of local trees. The arrays are kept by the caller as long as this lives.
  /// Cost: a sort of the nodes, 16 bytes a node.
  explicit DeviceNodes(const LocalTrees& trees);

  /// The whole tree: leaf_begin: number of the first node of each own leaf in it, host; others: all nodes
  /// that are in no leaf; size: of the tree. Cost: one pass over the nodes.
  void lay_out(std::span<const std::uint32_t> leaf_begin, std::span<const PlacedNode> others,
               std::uint32_t size);

  /// Finds boxes and largest radii, as NeighbourNodes::fit() does: to rounding, and boxes hold their
  /// particles. position, reach (in, device): of all particles. Cost: one pass over particles and nodes.
  void fit(const Vec3d* position, const double* reach, bool with_reach);

  const NeighbourNode* nodes() const { return nodes_.data(); }
  std::uint32_t size() const { return size_; }

 private:
  LocalTrees trees_;
  DeviceArray<std::uint32_t> leaf_of_node_;  ///< [nodes of local trees]
  DeviceArray<std::uint32_t> rank_;          ///< [the same] place of each in the order of all of them
  std::uint32_t size_ = 0;
  DeviceArray<NeighbourNode> nodes_;     ///< [size_], and the next likewise
  DeviceArray<std::uint32_t> parent_;    ///< of the root: itself
  DeviceArray<std::uint32_t> children_;  ///< their number
  DeviceArray<std::uint32_t> arrived_;   ///< children whose boxes are known
};

}  // namespace grove::cuda
