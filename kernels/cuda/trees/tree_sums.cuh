#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/tree_refit_view.cuh"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/octree_cell.hpp"

/// How the kernels of TreeRefit sum up nodes.
namespace grove::cuda {

/// So many lanes of a warp that work on one node.
template <int lanes>
struct NodeLanes {
  static constexpr int count = lanes;
  __device__ static int own() { return static_cast<int>(threadIdx.x % lanes); }
  __device__ static unsigned mask() { return ((1U << lanes) - 1) << (lane_index() / lanes * lanes); }
};

/// The extents of the particles of a node, as criteria take them: not at all, tight boxes, or cells, whose
/// levels are found in new trees and kept in others.
struct NoExtent {
  __device__ static NoExtent of(const RootFrame&, const Vec3f&) { return {}; }
  __device__ void add(const NoExtent&) {}
};
struct BoxExtent {
  Vec3f low, high;
  double unused;

  __device__ static BoxExtent of(const RootFrame&, const Vec3f& position) { return {position, position, 0}; }
  __device__ void add(const BoxExtent& other) {
    TargetBounds box{low, high, 0, 0};
    widen(box, other.low, other.high, 0, 0);
    low = box.low, high = box.high;
  }
};
using CellExtent = SmallestCell;
struct KeptCell {
  __device__ static KeptCell of(const RootFrame&, const Vec3f&) { return {}; }
  __device__ void add(const KeptCell&) {}
};

/// level: of a node's cell.
__device__ inline EdgeAndOffset edge_and_offset(const NoExtent&, const RootFrame&, const Vec3f&,
                                                std::uint8_t*) {
  return {0, 0};
}
__device__ inline EdgeAndOffset edge_and_offset(const BoxExtent& box, const RootFrame&, const Vec3f& centre,
                                                std::uint8_t*) {
  const Vec3f side = box.high - box.low;
  return {fmaxf(side.x, fmaxf(side.y, side.z)), norm(centre - (box.low + box.high) * 0.5F)};
}
__device__ inline EdgeAndOffset edge_and_offset(const CellExtent& cell, const RootFrame& frame,
                                                const Vec3f& centre, std::uint8_t* level) {
  *level = cell.level();
  return edge_and_offset(*level, frame, centre);
}
__device__ inline EdgeAndOffset edge_and_offset(const KeptCell&, const RootFrame& frame, const Vec3f& centre,
                                                const std::uint8_t* level) {
  return edge_and_offset(*level, frame, centre);
}

template <class Extent>
constexpr bool is_stored = !std::is_empty_v<Extent>;

/// The sums over the particles of a node. With a length of an odd number of pairs of banks, so that those
/// of a warp's lanes, one behind the other, are read and written without conflicts.
template <class Extent>
struct NodeSum : Extent {
  MomentSum sum;

  __device__ void add(const NodeSum& other) {
    sum = sum + other.sum;
    Extent::add(other);
  }
  __device__ Extent& extent() { return *this; }
  const __device__ Extent& extent() const { return *this; }
};
static_assert(sizeof(NodeSum<NoExtent>) % 16 == 8 && sizeof(NodeSum<BoxExtent>) % 16 == 8 &&
              sizeof(NodeSum<CellExtent>) % 16 == 8 && sizeof(NodeSum<KeptCell>) % 16 == 8);

/// The root cube of the trees of all leaves.
struct RootOfTrees {
  Box box;
  double unit;  ///< see RootFrame

  __device__ RootFrame frame_of(const LeafTrees& trees, std::uint32_t leaf) const {
    return {box, trees.origin[leaf], unit};
  }
};

__device__ inline unsigned distance2_bits(const Vec3f& position, const Vec3f& centre) {
  return __float_as_uint(norm2(position - centre));
}

/// The largest of these distances from particles first, first + 1, ..., end - 1; by the lanes of a node, each
/// of which has it from its own only.
template <class Lanes>
__device__ inline unsigned largest_distance2(const SourceParticle* sources, std::int32_t first,
                                             std::int32_t end, const Vec3f& centre) {
  unsigned largest = 0;
  for (std::int32_t i = first + Lanes::own(); i < end; i += Lanes::count)
    largest = max(largest, distance2_bits(sources[i].position, centre));
  return largest;
}

/// The box of a node where its criterion takes one.
template <class Extent>
__device__ void put_box(const Extent&, const Vec3f&, NodeBox&) {}
__device__ inline void put_box(const BoxExtent& box, const Vec3f& centre, NodeBox& to) {
  to = {box.low - centre, box.high - centre};
}

/// Stores a node when all of it is known. radius2: bits.
template <class Extent>
__device__ void complete_node(const AcceptanceRule& rule, const LeafTrees& trees, std::uint32_t n,
                              NodeCore node, const NodeMoments& m, unsigned radius2, const Extent& extent,
                              const RootFrame& frame) {
  constexpr float round_up = 1 + 1e-6F;
  node.radius = std::sqrt(__uint_as_float(radius2)) * round_up;
  const auto [edge, offset] = edge_and_offset(extent, frame, node.centre, trees.levels + n);
  rule.prepare(node, edge, offset, m.xx + m.yy + m.zz);
  trees.core[n] = node;
  if (rule.needs_boxes()) put_box(extent, node.centre, trees.node_boxes[n]);
}

/// Sums of the nodes of one leaf, by some lanes each. The order of sums does not depend on their number as
/// long as no node has more children.
template <class Extent, class Lanes>
struct LeafSums {
  using Sum = NodeSum<Extent>;

  const AcceptanceRule& rule;
  const LeafTrees& trees;
  const TreeRefit::View& v;
  const LeafPlaces& leaf;
  Sum* memory;  ///< [Lanes::count] shared
  const RootOfTrees& root;
  std::uint32_t number;  ///< of the leaf

  __device__ Sum sum_of_bucket(const NodeLinks& link) const {
    const SourceParticle* const own = sources() + link.first;
    Sum result;
    result.sum = bucket_moments(own, trees.softening + leaf.first + link.first, link.count);
    result.extent() = Extent::of(frame(), own[0].position);
    for (std::int32_t i = 1; i < link.count; ++i) result.extent().add(Extent::of(frame(), own[i].position));
    return result;
  }

  __device__ Sum sum_of_divided(std::uint32_t n) const {
    const std::uint32_t slot = v.slot[n];
    Sum result;
    result.sum = v.sums[slot];
    if constexpr (is_stored<Extent>) result.extent() = v.extent<Extent>(slot);
    return result;
  }

  /// Completes a node with its particles, of which each of the lanes that share it has found the largest
  /// distance; by one of them.
  __device__ void complete(std::uint32_t n, NodeCore core, const NodeMoments& moments, unsigned radius2,
                           const Extent& extent) const {
    complete_node(rule, trees, n, core, moments, radius2, extent, frame());
    trees.moments[n] = moments;
  }

  /// Adds a child to the sum of a lane, or begins with it; completes it if it is a bucket.
  __device__ void take_child(std::uint32_t c, bool is_first, Sum& result) const {
    const NodeLinks link = trees.links[c];
    const bool is_bucket = link.child == NodeLinks::bucket;
    const Sum sum = is_bucket ? sum_of_bucket(link) : sum_of_divided(c);
    if (is_first)
      result = sum;
    else
      result.add(sum);
    if (!is_bucket) return;
    const NodeCore core = node_core(sum.sum);
    unsigned radius2 = 0;
    for (std::int32_t i = link.first; i < link.first + link.count; ++i)
      radius2 = max(radius2, distance2_bits(sources()[i].position, core.centre));
    complete(c, core, node_moments(sum.sum), radius2, sum.extent());
  }

  /// In memory[0]: of children that are as many apart as there are lanes a lane's own, then neighbours, then
  /// their sums, and so on.
  __device__ void add_children(std::uint32_t first, std::uint32_t children) const {
    const auto lane = static_cast<std::uint32_t>(Lanes::own());
    for (std::uint32_t c = lane; c < children; c += Lanes::count)
      take_child(first + c, c == lane, memory[lane]);
    for (std::uint32_t step = 1; step < Lanes::count; step *= 2) {
      __syncwarp(Lanes::mask());
      if (lane % (2 * step) == 0 && lane + step < children) memory[lane].add(memory[lane + step]);
    }
    __syncwarp(Lanes::mask());
  }

  /// A divided node, by all of its lanes; complete unless it is wide, when its radius must wait for the
  /// groups.
  __device__ void store(std::uint32_t n, const NodeLinks& link) const {
    const Sum& s = memory[0];
    const NodeCore core = node_core(s.sum);
    const bool is_wide = v.whole_groups(link, leaf).exist();
    unsigned radius2 = 0;
    if (!is_wide)
      radius2 = __reduce_max_sync(
          Lanes::mask(),
          largest_distance2<Lanes>(sources(), link.first, link.first + link.count, core.centre));
    if (Lanes::own() != 0) return;
    const NodeMoments moments = node_moments(s.sum);
    const std::uint32_t slot = v.slot[n];
    v.sums[slot] = s.sum;
    if constexpr (is_stored<Extent>) v.extent<Extent>(slot) = s.extent();
    if (!is_wide) return complete(n, core, moments, radius2, s.extent());
    trees.core[n] = core;
    trees.moments[n] = moments;
  }

 private:
  __device__ SourceParticle* sources() const { return trees.sources + leaf.first; }
  __device__ RootFrame frame() const { return root.frame_of(trees, number); }
};

}  // namespace grove::cuda
