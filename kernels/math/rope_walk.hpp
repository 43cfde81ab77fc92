#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/walk_views.hpp"

/// The walk of single targets along the ropes of trees, for the host and for GPUs. The visitor decides
/// what is opened and adds up; the trees alone know where nodes are.
namespace grove {

/// The code behind the last node of all.
inline constexpr std::uint32_t rope_end = ~0U;

/// The start of a walk.
struct RopeTarget {
  std::int32_t leaf;   ///< number in the ORB
  std::int32_t place;  ///< in its leaf
  Vec3f position;      ///< in the frame of its leaf
};

/// The pace of a target that goes alone.
struct OwnPace {
  GROVE_HOST_DEVICE bool is_at(std::uint32_t) const { return true; }
  GROVE_HOST_DEVICE void goes_to(std::uint32_t) {}
  GROVE_HOST_DEVICE void enters(bool) {}
  GROVE_HOST_DEVICE bool is_at_node(std::int32_t) const { return true; }
  GROVE_HOST_DEVICE void goes_to_node(std::int32_t) {}
  GROVE_HOST_DEVICE bool any(bool own) const { return own; }
};

/// The place where the way of a target that goes with others goes on: in the leaf that they are in, and
/// behind it.
class NextOnWay {
 public:
  GROVE_HOST_DEVICE bool is_at(std::uint32_t code) const { return code == code_; }
  GROVE_HOST_DEVICE void goes_to(std::uint32_t code) { code_ = code; }
  GROVE_HOST_DEVICE void enters(bool is_here) { node_ = is_here ? 0 : not_in_leaf; }
  GROVE_HOST_DEVICE bool is_at_node(std::int32_t node) const { return node == node_; }
  GROVE_HOST_DEVICE void goes_to_node(std::int32_t node) { node_ = node; }

 private:
  static constexpr std::int32_t not_in_leaf = -3;  ///< no node has it, nor is it one of NodeLinks' marks
  std::uint32_t code_ = 0;
  std::int32_t node_ = not_in_leaf;
};

/// One target's way through the trees of all leaves, along their ropes: no stack, no other target (Nakasato
/// 2012, J. Comput. Sci. 3, 132). The cells of the ORB are followed to a leaf, that leaf's tree to its end,
/// and then the cells again; what holds the target is opened.
///
/// The Visitor decides and adds up; d are separations from the target in walk units:
///   bool accepts(const Core&, const Vec3f& d) const   true if a node may stand for its particles; with a
///       const NodeBox& as third argument where `needs_box`, a static constant, says so
///   void node(const Core&, const NodeMoments&, const Vec3f& d)   an accepted one; of a cell above the leaves
///       the centre in Core is not used
///   void particle(float mass, float softening, const Vec3f& d)   of a node that is not, never the target
/// Core is NodeCore for cells above the leaves; for nodes what the trees' core() gives, which has the centre,
/// mass, reach2 and power of NodeCore, and a softening_of().
///
/// Trees say where nodes are, in the frame of the target. Codes are theirs, but for rope_end:
///   code begin() const                     of the root
///   bool is_cell(code) const               of a cell above the leaves; else of a leaf
///   cell cell_of(code) const               and of a cell `cell_links` (TopLinks), `cell_core`,
///   Vec3f cell_place(cell, core) const     its centre of mass, `cell_moments`, where needed `cell_box`,
///   code below(cell) const                 its left child,
///   code after_cell(cell) const            and what comes when all below it is done
///   std::int32_t leaf_of(code) const       number in the ORB, and of that leaf
///   Leaf enter(leaf) const                 with a member `shift` from its frame to that of the target,
///   code after_leaf(leaf) const
///   links(Leaf, n), core(Leaf, n), moments(Leaf, n)   of its nodes, and where needed box(Leaf, n); at least
///       the root is there; way(Leaf, n): child and next of links(), all that most nodes are asked for
///   particle(Leaf, i), softening(Leaf, i)             of its particles
///
/// The Pace says who goes together. Targets that do visit whatever one of them has to, and each takes part
/// where its own way goes, so its force has the same bits as if it went alone:
///   bool is_at(code) const          true if this target's way goes through this cell or leaf
///   void goes_to(code)              the one that comes next on its way
///   void enters(bool)               they begin with the root of a leaf's tree; true: so does this target
///   bool is_at_node(n) const, void goes_to_node(n)   the same as above of the leaf's nodes
///   bool any(bool) const            true if it is for one of those who go together
template <class Trees, class Visitor, class Pace = OwnPace>
class RopeWalk {
 public:
  GROVE_HOST_DEVICE RopeWalk(const Trees& trees, const RopeTarget& target, Visitor& visitor)
      : trees_(trees), target_(target), visitor_(visitor), code_(trees.begin()) {
    pace_.goes_to(code_);
  }

  /// Returns false if a pruned node would have to be opened. One loop for leaves and what is above
  /// them: threads of a warp that are in one or the other go on side by side.
  GROVE_HOST_DEVICE bool run() {
    while (true) {
      if (node_ < 0) {
        if (node_ == NodeLinks::pruned) return false;
        if (code_ == rope_end) return true;
        if (trees_.is_cell(code_)) {
          step_above();
          continue;
        }
        enter(trees_.leaf_of(code_));
      }
      step_in_leaf();
    }
  }

  std::uint32_t tests = 0, nodes = 0, particles = 0;  ///< the target itself among the particles

 private:
  GROVE_HOST_DEVICE void step_above() {
    const auto cell = trees_.cell_of(code_);
    const std::uint32_t below = trees_.below(cell), after = trees_.after_cell(cell);
    bool opens = false;
    if (pace_.is_at(code_)) {
      const NodeCore core = trees_.cell_core(cell);
      const Vec3f d = trees_.cell_place(cell, core) - target_.position;
      ++tests;
      opens = trees_.cell_links(cell).holds(target_.leaf) || !accepts_cell(cell, core, d);
      if (!opens) {
        visitor_.node(core, trees_.cell_moments(cell), d);
        ++nodes;
      }
      pace_.goes_to(opens ? below : after);
    }
    code_ = pace_.any(opens) ? below : after;
  }

  template <class Cell>
  GROVE_HOST_DEVICE bool accepts_cell(const Cell& cell, const NodeCore& core, const Vec3f& d) const {
    if constexpr (Visitor::needs_box)
      return visitor_.accepts(core, d, trees_.cell_box(cell));
    else
      return visitor_.accepts(core, d);
  }

  /// The node that the walk is at.
  template <class Core>
  GROVE_HOST_DEVICE bool accepts_node(const Core& core, const Vec3f& d) const {
    if constexpr (Visitor::needs_box)
      return visitor_.accepts(core, d, trees_.box(leaf_, node_));
    else
      return visitor_.accepts(core, d);
  }

  /// Begins with the root of a leaf's tree.
  GROVE_HOST_DEVICE void enter(std::int32_t leaf) {
    const bool is_here = pace_.is_at(code_);
    leaf_ = trees_.enter(leaf);
    position_ = target_.position - leaf_.shift;
    own_place_ = leaf == target_.leaf ? target_.place : -1;
    node_ = 0;
    code_ = trees_.after_leaf(leaf);
    pace_.enters(is_here);
    if (is_here) pace_.goes_to(code_);
  }

  GROVE_HOST_DEVICE void step_in_leaf() {
    const auto core = trees_.core(leaf_, node_);
    const auto way = trees_.way(leaf_, node_);
    bool leads_down = false;
    if (pace_.is_at_node(node_)) {
      const Vec3f d = core.centre - position_;
      ++tests;
      if (accepts_node(core, d)) {
        visitor_.node(core, trees_.moments(leaf_, node_), d);
        ++nodes;
      } else if (way.child == NodeLinks::bucket) {
        open_bucket(trees_.links(leaf_, node_));
      } else {
        leads_down = true;
      }
      pace_.goes_to_node(leads_down ? way.child : way.next);
    }
    node_ = way.child != NodeLinks::bucket && pace_.any(leads_down) ? way.child : way.next;
  }

  GROVE_HOST_DEVICE void open_bucket(const NodeLinks links) {
    for (std::int32_t i = links.first; i < links.first + links.count; ++i) {
      if (i == own_place_) continue;
      const SourceParticle source = trees_.particle(leaf_, i);
      visitor_.particle(source.mass, trees_.softening(leaf_, i), source.position - position_);
    }
    particles += static_cast<std::uint32_t>(links.count);
  }

  const Trees& trees_;
  const RopeTarget target_;
  Visitor& visitor_;
  Pace pace_;

  std::uint32_t code_;  ///< the next one when the leaf is done
  std::int32_t node_ =
      -1;  ///< the next one of the leaf; -1: none; NodeLinks::pruned: one that is to be opened
  typename Trees::Leaf leaf_{};  ///< the one that the walk is in
  Vec3f position_{0, 0, 0};      ///< of the target, in that leaf's frame
  std::int32_t own_place_ = -1;  ///< of the target, if the leaf is its own
};

}  // namespace grove
