#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/vec3.hpp"
#include "kernels/host/walk.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/rope_walk.hpp"
#include "kernels/math/walk_views.hpp"

/// Walks of single particles along the ropes of the trees.
namespace grove {

/// The trees of all leaves as walks along ropes follow them. Views of arrays that others own.
struct RopeForest {
  TopTree top;
  std::vector<std::uint32_t> next;       ///< [cells] the cell behind all below it; rope_end at the end
  std::vector<std::uint32_t> leaf_cell;  ///< [leaves] the cell that is the leaf
  std::vector<SourceTree> trees;         ///< by number of the leaf; at least the root of each is there
  std::vector<NodeBox> root_boxes;       ///< by number of the leaf, of those that are roots alone

  /// trees: by number of the leaf; of those that no target opens nodes may be 0. roots: of all these leaves,
  /// the same on every rank that knows them, so that forces do not depend on which trees came whole. All must
  /// outlive this. Cost: O(leaves).
  RopeForest(const TopTree& top, std::span<const SourceTree> trees, std::span<const LeafRoot> roots);
  RopeForest(const RopeForest&) = delete;  ///< trees that are roots alone point into root_boxes
  RopeForest& operator=(const RopeForest&) = delete;
};

/// The trees of a RopeWalk in the memory of the host, seen from a leaf.
class HostRopeTrees {
 public:
  /// softening: by particle type, Plummer-equivalent lengths in walk units. origin: of the target's leaf.
  HostRopeTrees(const RopeForest& forest, const WalkUnits& units, const float* softening, const Vec3d& origin)
      : forest_(forest), units_(units), softening_(softening), origin_(origin) {}

  /// A leaf that is walked.
  struct Leaf {
    Vec3f shift;
    const SourceTree* tree;
  };

  std::uint32_t begin() const { return 0; }

  // A cell's code is its number. What is below a cell may be asked for, but not be gone to, if it is not
  // here.
  bool is_cell(std::uint32_t code) const {
    if (code == not_here) throw OpensPruned("rope walk: opens a cell of another rank that was not sent");
    return !forest_.top.links[code].is_leaf();
  }
  std::uint32_t cell_of(std::uint32_t code) const { return code; }
  const TopLinks& cell_links(std::uint32_t cell) const { return forest_.top.links[cell]; }
  const NodeCore& cell_core(std::uint32_t cell) const { return forest_.top.core[cell]; }
  Vec3f cell_place(std::uint32_t cell, const NodeCore&) const {
    return shift_between(forest_.top.centre[cell], origin_, units_);
  }
  const NodeMoments& cell_moments(std::uint32_t cell) const { return forest_.top.moments[cell]; }
  const NodeBox& cell_box(std::uint32_t cell) const { return forest_.top.boxes[cell]; }
  std::uint32_t below(std::uint32_t cell) const {
    const std::int32_t child = forest_.top.links[cell].child;
    return child < 0 ? not_here : static_cast<std::uint32_t>(child);
  }
  std::uint32_t after_cell(std::uint32_t cell) const { return forest_.next[cell]; }

  std::int32_t leaf_of(std::uint32_t code) const { return forest_.top.links[code].first_leaf; }
  Leaf enter(std::int32_t leaf) const {
    const SourceTree& tree = forest_.trees[static_cast<std::size_t>(leaf)];
    return {shift_between(tree.origin, origin_, units_), &tree};
  }
  std::uint32_t after_leaf(std::int32_t leaf) const {
    return forest_.next[forest_.leaf_cell[static_cast<std::size_t>(leaf)]];
  }

  const NodeCore& core(const Leaf& leaf, std::int32_t n) const { return leaf.tree->core[n]; }
  const NodeLinks& links(const Leaf& leaf, std::int32_t n) const { return leaf.tree->links[n]; }
  const NodeLinks& way(const Leaf& leaf, std::int32_t n) const { return links(leaf, n); }
  const NodeMoments& moments(const Leaf& leaf, std::int32_t n) const { return leaf.tree->moments[n]; }
  const NodeBox& box(const Leaf& leaf, std::int32_t n) const { return leaf.tree->boxes[n]; }
  const SourceParticle& particle(const Leaf& leaf, std::int32_t i) const { return leaf.tree->particles[i]; }
  float softening(const Leaf& leaf, std::int32_t i) const { return softening_[leaf.tree->types[i]]; }

 private:
  static constexpr std::uint32_t not_here = rope_end - 1;

  const RopeForest& forest_;
  const WalkUnits& units_;
  const float* softening_;
  const Vec3d origin_;
};

/// Forces on the active particles of the leaves, one by one, in one pass over all trees: the criterion is
/// applied to each particle's own place and |a_old|. A reference for the walk of groups, and the plainest
/// walk there is. Sets acceleration, potential and work. The same bits whatever leaves a call has.
///
/// median_acceleration: global median of |a_old|, units of the run (0 for the opening angles). targets[i],
/// outputs[i] are of the same leaf; the targets with `old_acceleration`. Throws OpensPruned if a pruned
/// node would have to be opened. Cost: a test per node on a particle's way, some thousand, and its
/// interactions, a particle at a time: several times as long as the walk of groups takes.
/// Source: Nakasato 2012, J. Comput. Sci. 3, 132.
WalkCounts rope_walk(const WalkSetup& setup, double median_acceleration, const RopeForest& forest,
                     std::span<const TargetLeaf> targets, std::span<const ForceOutput> outputs);

}  // namespace grove
