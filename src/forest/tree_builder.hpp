#pragma once

#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove {

/// The shape of the trees of some leaves, before it has moments.
struct TreeShapes {
  Array<NodeLinks> links;         ///< of all leaves; indices count from each leaf's first node and particle
  std::vector<Count> node_begin;  ///< [leaves + 1] first node of each leaf
};

/// Grows the trees of the leaves of the ORB: how a leaf is divided is all that bisection, octree and kd-tree
/// differ in.
class TreeBuilder {
 public:
  virtual ~TreeBuilder() = default;

  /// leaf_begin (in): first record of each leaf, length leaves + 1. records (in/out): returned in tree order,
  /// which may not depend on the order given within a leaf. id (in): ids by Record::index.
  /// Groups are the runs of group_size particles from each leaf's first on; no bucket may reach over two.
  virtual void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
                     TreeShapes& shapes) const = 0;
};

/// The bisection of the ORB continued down to groups and buckets (kernels/host/bisection.hpp).
const TreeBuilder& bisection_builder();

/// As much as a leaf holds of the octree of the root cube (kernels/math/octree.hpp), particles in the order
/// of a curve; of a single leaf the classic global octree. Nodes as those of the bisection: the children of a
/// node, then all below the first one, then all below the next. Cost: O(count) per level that divides, 21
/// bytes per particle of the largest leaf.
const TreeBuilder& octree_builder(Curve curve);

/// The builder of the trees that the parameters ask for.
const TreeBuilder& tree_builder(const GravityParameters& gravity);

}  // namespace grove
