#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_bounds.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/moments.hpp"

namespace grove::cuda {

/// The groups of trees (kernels/cuda/trees/leaf_groups.hpp).
enum class TreeGroups : std::uint8_t {
  full,   ///< full_groups_of()
  nodes,  ///< nodes_as_groups()
};

/// update_leaves() for trees of any kind in leaves of any size: the same results, moments to rounding; how
/// many children nodes have, and in new octrees the levels of their cells.
///
/// Sums climb from the nodes above buckets, eight lanes each, a child a lane, added in a fixed order: a pass
/// for those that have only buckets, one for the parents that then wait for no other, and a last one in which
/// who finishes the last child of a parent goes on with it. Buckets are complete when they are summed, and so
/// are nodes that hold no whole group of particles. Radii are exact: every group tells all other nodes that
/// hold the whole of it, and these look at the rest of their particles themselves.
///
/// Keeps its memory as long as it lives: some 80 bytes per node. Cost: O(nodes) in double precision,
/// O(particles x depth) in single precision.
class TreeRefit {
 public:
  explicit TreeRefit(TreeGroups tree_groups) : tree_groups_(tree_groups) {}

  /// groups, nodes: of all leaves together. The rest as for update_leaves().
  void run(const LeafParticleFields& particles, const GravityParameters& gravity, const WalkUnits& units,
           double median_acceleration, const LeafTrees& trees, std::uint32_t groups, std::uint32_t nodes);

  /// A node, by its number among all, and its leaf.
  struct Place {
    std::uint32_t node, leaf;
  };
  /// The sizes of lists of nodes.
  struct Sizes {
    static constexpr int passes = 3;
    std::uint32_t divided, wide;
    std::uint32_t ready[passes];  ///< by pass of the combination
  };
  struct View;  ///< what kernels see of the memory

 private:
  View view();

  TreeGroups tree_groups_;
  DeviceArray<std::uint32_t> parent_, pending_, slot_, radius2_, first_node_;
  DeviceArray<Sizes> sizes_{1};
  DeviceArray<Place> ready_[2], wide_;
  DeviceArray<MomentSum> sums_;
  DeviceArray<std::byte> extents_;
  DeviceArray<LeafBounds> parts_;
};

}  // namespace grove::cuda
