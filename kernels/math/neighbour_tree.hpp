#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/nearest_image.hpp"

/// The walk that finds neighbours, particles within a radius of each other, for the host and for GPUs. The
/// visitor says what is to be done with them.
namespace grove {

/// A cell of the tree that neighbours are searched in.
struct NeighbourNode {
  Vec3d centre;  ///< of the tight box of its particles, length units of the run
  Vec3d half;    ///< half the sides of the box, rounded up; -infinity if none of its particles takes part
  double reach;  ///< at least the largest radius H of its particles; 0 where sources' H do not count
  std::uint32_t next;   ///< where a search goes on behind this node and all below it
  std::uint32_t first;  ///< its first particle
  std::uint32_t
      count;  ///< its particles, one after the other; 0: they are not, or are those of several leaves

  /// Nodes are in the order of a search: the first child comes behind its parent.
  GROVE_HOST_DEVICE bool is_bucket(std::uint32_t own_number) const { return next == own_number + 1; }
};

/// The place of one target, or a box around several.
struct NeighbourTarget {
  Vec3d centre, half;
  double reach;  ///< largest H
};

/// True if a box may have a neighbour of the other one: the distance of the two is below the larger H.
GROVE_HOST_DEVICE inline bool is_in_reach(const NeighbourNode& node, const NeighbourTarget& target,
                                          const NearestImage& nearest) {
  const Vec3d between = nearest(target.centre - node.centre);
  const double rounding = 0x1p-50 * nearest.edge;  // of separations across faces of a periodic box
  double distance2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double outside = std::abs(between[axis]) - (target.half[axis] + node.half[axis]) - rounding;
    distance2 += outside > 0 ? outside * outside : 0;
  }
  const double reach = target.reach > node.reach ? target.reach : node.reach;
  return distance2 * (1 - 0x1p-40) < reach * reach;  // other roundings are below 2^-50 of the distance
}

/// Particles, and the tree over them. A rank's own ones come first, in the order of their leaves; then those
/// that were imported. Nodes follow the order of the leaves of all ranks.
struct NeighbourTree {
  const NeighbourNode* nodes;  ///< [node_count]
  std::uint32_t node_count;
  const Vec3d* position;  ///< [particles] length units of the run
  const double* reach;    ///< [particles] H; below 0: the particle takes no part
  NearestImage nearest;
  bool is_symmetric;  ///< neighbours are closer than the larger H of both, else than that of the target
};

/// Two neighbours.
struct NeighbourPair {
  std::uint32_t target, source;  ///< numbers of the particles
  Vec3d d;                       ///< from the target to the (nearest image of the) source
  double r2;                     ///< its square
};

/// A Visitor is what an interaction consists of. It is copied by value, and what it points to is in the
/// memory of the processor that runs it:
///   struct Sum { ... };                                    what is summed for a target; begins as Sum{}
///   void particle(Sum&, const NeighbourPair&) const        a neighbour; never the target itself
///   void finish(std::uint32_t target, const Sum&) const    the target has no more
/// It may also have
///   Sum start(std::uint32_t target) const                  what its sum begins as, in place of Sum{}
///   bool is_target(std::uint32_t) const                    for which particles this is done; else all
///   bool accepts(const Sum&, std::uint32_t target, const NeighbourNode&) const   true if a node in reach is
///   void node(Sum&, std::uint32_t target, const NeighbourNode&) const            taken as a whole
/// Neighbours come in the order of the particles in the tree over all ranks, so that sums have the same bits
/// on any number of ranks.
template <class Visitor>
inline constexpr bool takes_nodes = requires {
  &Visitor::accepts;
};

template <class Visitor>
GROVE_HOST_DEVICE bool is_target(const NeighbourTree& tree, std::uint32_t i, const Visitor& visitor) {
  if constexpr (requires { visitor.is_target(i); })
    if (!visitor.is_target(i)) return false;
  return tree.reach[i] >= 0;
}

/// The sum of a target before its first neighbour.
template <class Visitor>
GROVE_HOST_DEVICE typename Visitor::Sum first_sum(std::uint32_t target, const Visitor& visitor) {
  if constexpr (requires { visitor.start(target); })
    return visitor.start(target);
  else
    return typename Visitor::Sum{};
}

/// The number of a target that is a place without a particle.
inline constexpr std::uint32_t no_particle = ~0U;

GROVE_HOST_DEVICE inline NeighbourTarget target_of(const NeighbourTree& tree, std::uint32_t i) {
  return {tree.position[i], {0, 0, 0}, tree.reach[i]};
}

/// The neighbours of a target, a place with a number, among the particles of a bucket.
template <class Visitor>
GROVE_HOST_DEVICE void visit_bucket(const NeighbourTree& tree, const NeighbourNode& bucket,
                                    const NeighbourTarget& target, std::uint32_t number,
                                    const Visitor& visitor, typename Visitor::Sum& sum) {
  for (std::uint32_t j = bucket.first; j < bucket.first + bucket.count; ++j) {
    const double other = tree.reach[j];
    const double reach = tree.is_symmetric && other > target.reach ? other : target.reach;
    const Vec3d d = tree.nearest(tree.position[j] - target.centre);
    const double r2 = squared_length(d);
    if (r2 < reach * reach && other >= 0 && j != number) visitor.particle(sum, {number, j, d, r2});
  }
}

/// The neighbours of one target, along the ropes of the tree: no stack, no other target (Nakasato 2012,
/// J. Comput. Sci. 3, 132).
template <class Visitor>
GROVE_HOST_DEVICE typename Visitor::Sum neighbour_sum(const NeighbourTree& tree,
                                                      const NeighbourTarget& target, std::uint32_t number,
                                                      const Visitor& visitor) {
  typename Visitor::Sum sum = first_sum(number, visitor);
  for (std::uint32_t n = 0; n < tree.node_count;) {
    const NeighbourNode& node = tree.nodes[n];
    if (!is_in_reach(node, target, tree.nearest)) {
      n = node.next;
      continue;
    }
    if constexpr (takes_nodes<Visitor>)
      if (visitor.accepts(sum, number, node)) {
        visitor.node(sum, number, node);
        n = node.next;
        continue;
      }
    if (node.is_bucket(n)) visit_bucket(tree, node, target, number, visitor, sum);
    ++n;
  }
  return sum;
}

/// The body of a loop over the own particles, as targets that go along the ropes.
template <class Visitor>
struct NeighbourRopes {
  NeighbourTree tree;
  Visitor visitor;

  GROVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    if (is_target(tree, i, visitor)) visitor.finish(i, neighbour_sum(tree, target_of(tree, i), i, visitor));
  }
};

}  // namespace grove
