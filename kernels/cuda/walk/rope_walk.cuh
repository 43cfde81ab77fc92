#pragma once

#include "kernels/cuda/walk/rope_walk.hpp"

namespace grove::cuda {

/// The start of a thread's walk.
struct RopeTarget {
  std::int32_t leaf;   ///< number in the ORB
  std::int32_t place;  ///< in its leaf
  Vec3f position;      ///< in the frame of its leaf
};

/// One target's way through the trees of all leaves, along their ropes: no stack, no other thread
/// (Nakasato 2012, J. Comput. Sci. 3, 132). The cells of the ORB are followed to a leaf, that leaf's tree to
/// its end, and then the cells again; what holds the target is opened.
///
/// The Visitor decides and adds up; d are separations from the target in walk units:
///   bool accepts(const NodeCore&, const Vec3f& d) const   whether a node may stand for its particles
///   void node(const NodeCore&, const NodeMoments&, const Vec3f& d)   an accepted one
///   void particle(float mass, float softening, const Vec3f& d)   of a node that is not, never the target
template <class Visitor>
class RopeWalk {
 public:
  __device__ RopeWalk(const WalkSources& from, const RopeCells& above, const RopeTarget& target,
                      Visitor& visitor)
      : from_(from),
        above_(above),
        target_(target),
        frame_(from.nodes[0].frames[target.leaf]),
        visitor_(visitor),
        code_(above.cells.links[0].child < 0 ? from.codes.root_of(0) : from.codes.of_cell(0)) {}

  /// Returns whether all that had to be opened was there. One loop for leaves and what is above them: threads
  /// of a warp that are in one or the other go on side by side.
  __device__ bool run() {
    while (true) {
      if (node_ < 0) {
        if (code_ == no_code) return true;
        if (code_ & of_top) {
          step_above();
          continue;
        }
        enter(static_cast<std::int32_t>(from_.codes.frame(code_)));
      }
      if (!step_in_leaf()) return false;
    }
  }

  std::uint32_t tests = 0, nodes = 0, particles = 0;  ///< the target itself among the particles

 private:
  __device__ void step_above() {
    const std::uint32_t c = from_.codes.frame(code_);
    const NodeArrays& cells = from_.nodes[1];
    const TopLinks links = above_.cells.links[c];
    const bool holds = target_.leaf >= links.first_leaf && target_.leaf < links.first_leaf + links.leaves;
    const NodeCore core = cells.core[c];
    const Vec3f d = core.centre + shift_between(cells.frames[c], frame_) - target_.position;
    ++tests;
    if (!holds && visitor_.accepts(core, d)) {
      visitor_.node(core, cells.moments[c], d);
      ++nodes;
      code_ = above_.next[c];
    } else {
      code_ = static_cast<std::uint32_t>(cells.links[c].child);
    }
  }

  /// Begins with the root of a leaf's tree.
  __device__ void enter(std::int32_t leaf) {
    const SourceFrame frame = from_.nodes[0].frames[leaf];
    shift_ = shift_between(frame, frame_);
    first_node_ = frame.node;
    first_particle_ = frame.particle;
    own_place_ = leaf == target_.leaf ? target_.place : -1;
    node_ = 0;
    code_ = above_.next[above_.cells.leaf_cell[leaf]];
  }

  __device__ bool step_in_leaf() {
    const NodeArrays& of_leaf = from_.nodes[0];
    const std::uint64_t n = std::uint64_t{first_node_} + static_cast<std::uint64_t>(node_);
    const NodeCore core = of_leaf.core[n];
    const NodeLinks links = of_leaf.links[n];
    const Vec3f d = core.centre + shift_ - target_.position;
    ++tests;
    if (visitor_.accepts(core, d)) {
      visitor_.node(core, of_leaf.moments[n], d);
      ++nodes;
      node_ = links.next;
    } else if (links.child >= 0) {
      node_ = links.child;
    } else {
      if (links.child != NodeLinks::bucket) return false;
      open_bucket(links);
      node_ = links.next;
    }
    return true;
  }

  __device__ void open_bucket(const NodeLinks& links) {
    for (std::int32_t i = links.first; i < links.first + links.count; ++i) {
      if (i == own_place_) continue;
      const std::uint64_t p = std::uint64_t{first_particle_} + static_cast<std::uint64_t>(i);
      const SourceParticle source = from_.particles[p];
      visitor_.particle(source.mass, from_.softening[p], source.position + shift_ - target_.position);
    }
    particles += static_cast<std::uint32_t>(links.count);
  }

  const WalkSources& from_;
  const RopeCells& above_;
  const RopeTarget target_;
  const SourceFrame frame_;  ///< of the target's leaf
  Visitor& visitor_;

  std::uint32_t code_;                                 ///< the next one when the leaf is done
  std::int32_t node_ = -1;                             ///< the next one of the leaf; -1: none
  Vec3f shift_{0, 0, 0};                               ///< from the frame of the leaf to that of the target's
  std::uint32_t first_node_ = 0, first_particle_ = 0;  ///< of the leaf
  std::int32_t own_place_ = -1;                        ///< of the target, if the leaf is its own
};

}  // namespace grove::cuda
