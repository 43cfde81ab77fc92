#pragma once

#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "kernels/kokkos/bisection.hpp"
#include "kernels/math/node.hpp"

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

/// The bisection of the ORB continued down to groups and buckets (kernels/kokkos/bisection.hpp).
const TreeBuilder& bisection_builder();

}  // namespace grove
