#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/cuda/walk/rope_walk.hpp"
#include "kernels/math/rope_walk.hpp"

namespace grove::cuda {

/// Loads a part of a node, aligned as Part is, in one piece. The compiler would load whole nodes.
template <class Part, class Whole>
GROVE_HOST_DEVICE Part load_part(const Whole& node, std::size_t offset) {
  static_assert(sizeof(Part) == alignof(Part));
  const auto* const from = reinterpret_cast<const Part*>(reinterpret_cast<const std::byte*>(&node) + offset);
#if defined(__CUDA_ARCH__)
  return __ldg(from);
#else
  return *from;
#endif
}

/// NodeCore as two pieces.
struct RopeCore {
  Vec3f centre;
  float mass, softening, reach2, power;

  GROVE_HOST_DEVICE static RopeCore of(const NodeCore& core) {
    static_assert(offsetof(NodeCore, centre) == 0 && offsetof(NodeCore, mass) == 12 &&
                  offsetof(NodeCore, radius) == 16 && offsetof(NodeCore, softening) == 20 &&
                  offsetof(NodeCore, reach2) == 24 && offsetof(NodeCore, power) == 28);
    const auto place = load_part<float4>(core, 0), rest = load_part<float4>(core, 16);
    return {{place.x, place.y, place.z}, place.w, rest.y, rest.z, rest.w};
  }
};
GROVE_HOST_DEVICE inline float softening_of(const RopeCore& core) { return core.softening; }

/// The part of NodeLinks that most nodes are asked for.
struct RopeWay {
  std::int32_t child, next;

  GROVE_HOST_DEVICE static RopeWay of(const NodeLinks& links) {
    static_assert(offsetof(NodeLinks, child) == 0 && offsetof(NodeLinks, next) == 4);
    const auto way = load_part<int2>(links, 0);
    return {way.x, way.y};
  }
};

/// The trees of a RopeWalk in device memory, seen from a leaf.
class DeviceRopeTrees {
 public:
  GROVE_HOST_DEVICE DeviceRopeTrees(const WalkSources& from, const RopeCells& above, std::int32_t target_leaf)
      : from_(from), above_(above), target_leaf_(target_leaf) {}

  /// A leaf that is walked.
  struct Leaf {
    Vec3f shift;  ///< from its frame to that of the target's leaf
    std::uint32_t first_node, first_particle;
  };

  GROVE_HOST_DEVICE std::uint32_t begin() const {
    return above_.cells.links[0].child < 0 ? from_.codes.root_of(0) : from_.codes.of_cell(0);
  }

  GROVE_HOST_DEVICE bool is_cell(std::uint32_t code) const { return code & of_top; }
  GROVE_HOST_DEVICE std::uint32_t cell_of(std::uint32_t code) const { return from_.codes.frame(code); }
  GROVE_HOST_DEVICE TopLinks cell_links(std::uint32_t cell) const { return above_.cells.links[cell]; }
  GROVE_HOST_DEVICE NodeCore cell_core(std::uint32_t cell) const { return from_.nodes[1].core[cell]; }
  GROVE_HOST_DEVICE Vec3f cell_place(std::uint32_t cell, const NodeCore& core) const {
    return core.centre + shift_between(from_.nodes[1].frames[cell], frame());
  }
  GROVE_HOST_DEVICE const NodeMoments& cell_moments(std::uint32_t cell) const {
    return from_.nodes[1].moments[cell];
  }
  GROVE_HOST_DEVICE const NodeBox& cell_box(std::uint32_t cell) const { return from_.boxes[1][cell]; }
  GROVE_HOST_DEVICE std::uint32_t below(std::uint32_t cell) const {
    return static_cast<std::uint32_t>(from_.nodes[1].links[cell].child);
  }
  GROVE_HOST_DEVICE std::uint32_t after_cell(std::uint32_t cell) const { return above_.next[cell]; }

  GROVE_HOST_DEVICE std::int32_t leaf_of(std::uint32_t code) const {
    return static_cast<std::int32_t>(from_.codes.frame(code));
  }
  GROVE_HOST_DEVICE Leaf enter(std::int32_t leaf) const {
    const SourceFrame from = from_.nodes[0].frames[leaf];
    return {shift_between(from, frame()), from.node, from.particle};
  }
  GROVE_HOST_DEVICE std::uint32_t after_leaf(std::int32_t leaf) const {
    return above_.next[above_.cells.leaf_cell[leaf]];
  }

  GROVE_HOST_DEVICE RopeCore core(const Leaf& leaf, std::int32_t n) const {
    return RopeCore::of(from_.nodes[0].core[place(leaf.first_node, n)]);
  }
  GROVE_HOST_DEVICE RopeWay way(const Leaf& leaf, std::int32_t n) const {
    return RopeWay::of(links(leaf, n));
  }
  GROVE_HOST_DEVICE const NodeLinks& links(const Leaf& leaf, std::int32_t n) const {
    return from_.nodes[0].links[place(leaf.first_node, n)];
  }
  GROVE_HOST_DEVICE const NodeMoments& moments(const Leaf& leaf, std::int32_t n) const {
    return from_.nodes[0].moments[place(leaf.first_node, n)];
  }
  GROVE_HOST_DEVICE const NodeBox& box(const Leaf& leaf, std::int32_t n) const {
    return from_.boxes[0][place(leaf.first_node, n)];
  }
  GROVE_HOST_DEVICE const SourceParticle& particle(const Leaf& leaf, std::int32_t i) const {
    return from_.particles[place(leaf.first_particle, i)];
  }
  GROVE_HOST_DEVICE float softening(const Leaf& leaf, std::int32_t i) const {
    return from_.softening[place(leaf.first_particle, i)];
  }

 private:
  /// The frame of the target's leaf. It is read again for each leaf on the way: kept, it would take registers
  /// that steps in leaves need.
  GROVE_HOST_DEVICE const SourceFrame& frame() const { return from_.nodes[0].frames[target_leaf_]; }
  GROVE_HOST_DEVICE static std::uint32_t place(std::uint32_t first, std::int32_t i) {
    return first + static_cast<std::uint32_t>(i);
  }

  const WalkSources& from_;
  const RopeCells& above_;
  const std::int32_t target_leaf_;
};

}  // namespace grove::cuda
