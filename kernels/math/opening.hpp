#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// When a node may stand for its particles, seen from a distance d.
enum class Criterion : std::uint8_t {
  opening_edge,    ///< l / theta + s < d
  opening_radius,  ///< b / d <= theta
  multipole,       ///< Warren and Salmon 1993
  acceleration,    ///< Springel 2005, Miki and Umemura 2017
  relative_edge,   ///< the same with the edge of the node's box, for targets outside of that
  opening_cell,    ///< l / theta + s < d with the octree's cell, not the tight box
};

/// True if walks of single targets look at the boxes of nodes.
GROVE_HOST_DEVICE constexpr bool needs_boxes(Criterion criterion) {
  return criterion == Criterion::relative_edge;
}

/// Terms of the expansion of a node's force.
enum class Order : std::uint8_t { monopole, quadrupole, octupole };

/// Shape of softened point masses.
enum class SofteningKernel : std::uint8_t { plummer, spline };

/// The kind of tree in each leaf of the ORB.
enum class LocalTreeKind : std::uint8_t {
  bisection,  ///< the bisection of the ORB continued
  octree,     ///< the octree of the root cube, as much of it as the leaf holds
  kd,         ///< a kd-tree, its small nodes cut as KdSplit says
};

/// How a kd-tree cuts nodes of few particles (kernels/math/kd_cut.hpp).
enum class KdSplit : std::uint8_t {
  vmh,        ///< least volume times mass of both parts, in the box that the cuts above leave
  vmh_tight,  ///< the same in the tight box
  middle,     ///< spatial middle of the tight box
  median,     ///< half of the particles on each side
};

/// True if the nodes, buckets and groups of a leaf follow from its number of particles. Then pairs of groups
/// are cells, too, and cells of leaves may be cut anew by themselves.
inline bool follows_from_counts(LocalTreeKind kind) {
  switch (kind) {
    case LocalTreeKind::bisection:
      return true;
    case LocalTreeKind::octree:
    case LocalTreeKind::kd:
      return false;
  }
  throw std::logic_error("no such kind of tree");
}

/// True if nodes are cells of the root cube.
inline bool has_cells(LocalTreeKind kind) { return kind == LocalTreeKind::octree; }

/// The order of the octants of an octree, and so of the particles of a leaf.
enum class Curve : std::uint8_t { hilbert, morton };

/// The kind of walk through the trees.
enum class WalkKind : std::uint8_t {
  groups,  ///< groups of particles, with a test for all of one
  rope,    ///< each particle for itself, along the links of the nodes
};

/// The stand-in, once, for a criterion that needs |a_old|.
enum class FirstForces : std::uint8_t {
  angle,   ///< the opening angle
  direct,  ///< direct sums
};

/// GravityParameters::expansion_excess() of walks without expansions.
inline constexpr float no_expansion = std::numeric_limits<float>::infinity();

/// The parameters of a force evaluation.
struct GravityParameters {
  double gravitational_constant = 1;
  Criterion criterion = Criterion::acceleration;
  /// Opening angle; also of the first evaluation under criteria that need |a_old|.
  double theta = 0.5;
  /// Accuracy of these criteria: a fraction of |a_old|, for `multipole` of its median. The
  /// default keeps the 99th percentile of the error within 0.1 % on five models:
  /// docs/measurements/accuracy.md.
  double delta = 2.5e-4;
  Order order = Order::quadrupole;
  SofteningKernel kernel = SofteningKernel::spline;
  std::array<double, particle_types>
      softening{};  ///< Plummer-equivalent length by type; a pair uses the larger
  LocalTreeKind tree = LocalTreeKind::bisection;
  Curve curve = Curve::hilbert;  ///< of an octree
  KdSplit split = KdSplit::vmh;  ///< of a kd-tree
  WalkKind walk = WalkKind::groups;
  FirstForces first = FirstForces::angle;
  Count bucket = 8;  ///< of an octree or a kd-tree: particles of a node that is not divided, at most
  /// Groups that walk octrees: no part of one reaches farther, units of the run; 0: the reach of least cost.
  double critical_separation = 0;
  Count direct_below = 0;    ///< fewer particles than this are summed directly
  Images images{};           ///< of a periodic box
  bool self_gravity = true;  ///< false: particles do not attract each other

  /// True unless softening, which must end within one of the nearest images of a periodic box, reaches too
  /// far.
  bool softening_fits_box() const {
    constexpr double most = 1.0 / 16;  // of the edge, in Plummer-equivalent lengths
    return images.are_open() || *std::max_element(softening.begin(), softening.end()) <= most * images.edge;
  }
  /// True if cells of a periodic box that are far off act through expansions, which know of no softening.
  bool expands_far() const {
    return !images.are_open() && walk == WalkKind::groups && kernel == SofteningKernel::spline;
  }
  /// The order where none is asked for. In a periodic box, where forces nearly cancel, octupoles give the
  /// same accuracy for half of the interactions, and never take longer by much (docs/cosmology.md).
  Order usual_order() const {
    return expands_far() && criterion == Criterion::acceleration ? Order::octupole : Order::quadrupole;
  }
  /// The order in steps in which far cells do not act through expansions, though they do in others. Few
  /// particles are active in these, deep in halos and within the reach of softening, where nodes with
  /// octupoles are opened.
  Order order_of_near_walks() const {
    return expands_far() && order == Order::octupole ? Order::quadrupole : order;
  }
  /// True if groups may be split where they reach far.
  bool splits_groups() const { return tree == LocalTreeKind::octree && walk == WalkKind::groups; }
  bool is_direct(Count particles) const { return particles < direct_below; }
  /// True if trees of so many particles keep the levels of their nodes' cells until there are new ones.
  bool keeps_levels(Count particles) const {
    return self_gravity && criterion == Criterion::opening_cell && !is_direct(particles);
  }

  /// True if the criterion needs |a_old|: an evaluation before the first one then uses first_evaluation().
  bool needs_old_acceleration() const {
    return criterion == Criterion::acceleration || criterion == Criterion::multipole ||
           criterion == Criterion::relative_edge;
  }
  /// How far below the tolerance the terms must be that expansions of far cells about groups leave out
  /// (ExpansionFrame); no_expansion: nothing is expanded. With 4 the 99th percentile of the errors of forces
  /// is 2 to 12 % larger than without expansions (docs/measurements/gpu-forces.md). In a periodic box, where
  /// forces cancel, what is left out counts more: a displaced lattice has 6.0e-4 at high accuracy with 4,
  /// 2.0e-4 with 16, and 1.4e-4 with 64 as without expansions. If cells of the ORB that are far off act on
  /// whole leaves, 16 is enough, with octupoles, and fifth order, 8.
  float expansion_excess() const {
    if (criterion != Criterion::acceleration || order == Order::monopole || kernel != SofteningKernel::spline)
      return no_expansion;
    if (images.are_open()) return 4;
    if (!images.expands_far()) return 32;
    return order == Order::octupole ? 8 : 16;
  }
  /// The same with an opening angle for a criterion.
  GravityParameters first_evaluation() const {
    GravityParameters result = *this;
    if (needs_old_acceleration()) result.criterion = Criterion::opening_radius;
    return result;
  }
};

}  // namespace grove
