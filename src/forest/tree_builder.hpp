#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove {

/// The trees of some leaves as a builder leaves them, before they have moments: its nodes, among them the
/// buckets (NodeLinks::is_bucket()), and its groups. Nothing else follows from the number of particles.
struct TreeShapes {
  Array<NodeLinks> links;          ///< of all leaves; indices count from each leaf's first node and particle
  std::vector<Count> node_begin;   ///< [leaves + 1] first node of each leaf
  Array<GroupRun> groups;          ///< of all leaves, one after the other
  std::vector<Count> group_begin;  ///< [leaves + 1] first group of each leaf
  /// [nodes] levels of their cells (kernels/math/octree_cell.hpp), where the criterion takes them and an
  /// update has found them.
  Array<std::uint8_t> levels;
};

/// Grows the trees of the leaves of the ORB: how a leaf is divided is all that bisection, octree and kd-tree
/// differ in.
class TreeBuilder {
 public:
  virtual ~TreeBuilder() = default;

  /// leaf_begin (in): first record of each leaf, length leaves + 1. records (in/out): returned in tree order,
  /// which may not depend on the order given within a leaf. id, mass (in): by Record::index. shapes (out):
  /// links and node_begin.
  virtual void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
                     const double* mass, TreeShapes& shapes) const = 0;
  /// Parts the particles into groups: shapes (in/out) has the nodes, which build() made here or elsewhere,
  /// and gets groups and group_begin. Groups follow one another, and no bucket reaches over two.
  virtual void group(std::span<const Count> leaf_begin, TreeShapes& shapes) const = 0;
};

/// group() of trees whose buckets end wherever a group is full: runs of group_size particles from each leaf's
/// first on.
void make_full_groups(std::span<const Count> leaf_begin, TreeShapes& shapes);

/// The bisection of the ORB continued down to groups and buckets (kernels/host/bisection.hpp).
const TreeBuilder& bisection_builder();

/// The same of one leaf. records (in/out): of its particles, returned in tree order; id: by Record::index;
/// links (out): of its nodes, local_cells() of them.
void bisect_leaf(std::span<Record> records, const ParticleId* id, NodeLinks* links);

/// As much as a leaf holds of the octree of the root cube (kernels/math/octree.hpp), particles in the order
/// of a curve; of a single leaf the classic global octree. Nodes as those of the bisection: the children of a
/// node, then all below the first one, then all below the next. bucket: particles of a node that is not
/// divided, at most. Cost: O(count) per level that divides, 21 bytes per particle of the largest leaf.
std::unique_ptr<TreeBuilder> octree_builder(Curve curve, std::int32_t bucket = bucket_size);

/// The kd-tree of each leaf (kernels/math/kd_cut.hpp); of a single leaf the published tree. Nodes as those of
/// the bisection. Groups are the largest nodes of at most group_size particles. Cost: O(count) per level of
/// large nodes, O(count log count) per level of small ones.
std::unique_ptr<TreeBuilder> kd_tree_builder(KdSplit split, std::int32_t bucket);

/// The builder of the trees that the parameters ask for.
std::unique_ptr<TreeBuilder> tree_builder(const GravityParameters& gravity);

}  // namespace grove
