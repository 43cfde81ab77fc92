#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/scalars.hpp"

/// The one node layout: bisection, octree, kd-tree and locally essential trees all produce these arrays, and
/// walks, acceptance criteria and checks are written once against them.
///
/// Lengths and masses of everything in this file are in walk units (WalkUnits), in single precision; places
/// are offsets from the origin of the leaf (of the ORB) that the thing belongs to.
namespace grove {

/// Units of the walk: lengths and masses of the run are divided by these before they become single precision,
/// so that no power of a distance leaves its range. Powers of two: dividing by them is exact. They must be
/// the same on every rank; walk units have G = 1.
struct WalkUnits {
  double length = 1;
  double mass = 1;

  /// Powers of two: near the total mass, and 2^-23 times the larger of the edge of the root cube and the
  /// largest softening length. So distances are below 2^25, the fifth power of which leaves the range as
  /// little as that of the least softening does, and there is room for second moments, b^3 and squared
  /// distances over theta. largest_mass: of a particle.
  static WalkUnits of(double box_edge, double largest_softening, double largest_mass, Count particles) {
    const double mass = largest_mass * static_cast<double>(particles);
    const double size = box_edge > largest_softening ? box_edge : largest_softening;
    return {std::ldexp(power_of_two(size), -23), mass > 0 ? power_of_two(mass) : 1.0};
  }

  /// No less than the mass of all particles.
  double most_mass() const { return 2 * mass; }

 private:
  static double power_of_two(double value) { return std::exp2(std::floor(std::log2(value))); }
};

/// The data of a node that an acceptance test reads, and its mass: half a cache line.
///
/// Every criterion has the form d^2 > max(reach2, power * inverse_tolerance), d the distance of the target's
/// box from the centre of mass, inverse_tolerance a property of the target (see acceptance.hpp).
struct alignas(32) NodeCore {
  Vec3f centre;     ///< centre of mass (of massless particles: of their positions)
  float mass;       ///< sum of masses
  float radius;     ///< b: no particle is farther from the centre of mass; rounded up
  float softening;  ///< largest Plummer-equivalent softening inside; with a minus sign if it differs inside
  float reach2;     ///< the node is opened where d^2 <= this
  float power;      ///< and where d^2 <= this times the inverse tolerance
};

/// One name for NodeCore and for types that hold a part of it.
GROVE_HOST_DEVICE inline float softening_of(const NodeCore& core) { return core.softening; }

/// Raw second moments about the centre of mass, sum over particles of m d d^T; not traceless, because under
/// softening the trace enters the force.
struct alignas(32) NodeMoments {
  float xx, yy, zz, xy, xz, yz;
  float softening2;  ///< mean of the squared softening, weighted by mass; what Plummer softening takes
  float more;        ///< nothing; in both there may be an octupole instead (octupole.hpp)
};

/// The tight box of a node's particles: offsets of its corners from the centre of mass, the same in any
/// frame.
struct NodeBox {
  Vec3f low, high;

  /// True if a target is outside of the box widened by a tenth of its sides on all of them. d: the centre of
  /// mass less the target's place.
  GROVE_HOST_DEVICE bool is_far_from(const Vec3f& d) const {
    for (int axis = 0; axis < 3; ++axis) {
      const float from_middle = d[axis] + 0.5F * (low[axis] + high[axis]);
      if (std::abs(from_middle) >= 0.6F * (high[axis] - low[axis])) return true;
    }
    return false;
  }
};

/// How nodes hang together, and which particles they hold. Indices count from the first node and from the
/// first particle of the tree. Children of a node are adjacent: `child`, `child` + 1, ... ; each one's `next`
/// is the following one, the last one's `next` is the parent's.
struct alignas(16) NodeLinks {
  static constexpr std::int32_t bucket = -1;  ///< `child` of a node whose particles are the sources
  static constexpr std::int32_t pruned = -2;  ///< `child` of a node that no walk here may open (LET)

  std::int32_t child;  ///< "more": the first child, always behind its parent; or one of the two above
  std::int32_t next;   ///< where a walk goes on when this node's subtree is done; -1 at the end
  std::int32_t first;  ///< its first particle; of a pruned node: 0
  std::int32_t count;  ///< its particles, here or not

  GROVE_HOST_DEVICE bool is_bucket() const { return child == bucket; }
};

/// The particles of a group in tree order, counted from the first of the leaf; at most group_size
/// (kernels/math/cut_rule.hpp).
struct GroupRun {
  std::int32_t first, count;
};

/// The data of a source particle that walks read.
struct alignas(16) SourceParticle {
  Vec3f position;
  float mass;
};

/// The place where a force is wanted: the tight box of a group or of all groups of a leaf.
struct TargetBounds {
  Vec3f low, high;
  float inverse_tolerance;  ///< what multiplies NodeCore::power: from the least |a_old| (acceptance.hpp)
  float softening;          ///< largest Plummer-equivalent softening of its particles

  /// Squared distance of a point from the box, 0 inside. Monotone: not larger for a box that holds this one,
  /// roundings included.
  GROVE_HOST_DEVICE float distance2(const Vec3f& p) const {
    const float x = outside(p.x, low.x, high.x), y = outside(p.y, low.y, high.y),
                z = outside(p.z, low.z, high.z);
    return x * x + y * y + z * z;
  }

 private:
  GROVE_HOST_DEVICE static float outside(float p, float low, float high) {
    return larger(larger(low - p, p - high), 0.F);
  }
};

/// A tight box.
struct TightBox {
  Vec3f low, high;
};

/// Particles that are walked together, at most group_size (kernels/math/cut_rule.hpp), inside one leaf, if
/// any of them is active.
struct Group {
  TargetBounds bounds;  ///< the box of all its particles, with the least tolerance of the active ones
  std::int32_t first;   ///< its first particle, counted from the first of the leaf
  std::int32_t count;
  std::uint32_t active = ~0U;  ///< bit i: whether its particle i is, and gets a force
};

}  // namespace grove
