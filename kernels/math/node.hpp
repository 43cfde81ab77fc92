#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

/// The one node layout: bisection, octree, kd-tree and locally essential trees all produce these arrays, and
/// walks, acceptance criteria and checks are written once against them. All lengths are single-precision
/// offsets from the origin of the leaf (of the ORB) that the node belongs to.
namespace grove {

/// What an acceptance test reads of a node: half a cache line.
struct alignas(32) NodeCore {
  Vec3f centre;  ///< centre of mass, offset from the leaf's origin
  float mass;
  float radius;     ///< b: no particle is farther from the centre of mass
  float edge;       ///< l: longest side of the node's box
  float offset;     ///< s: distance of the centre of mass from the middle of the box
  float softening;  ///< H: largest radius of spline softening inside (2.8 eps) if eps differs inside, else
                    ///< -that
};

/// Raw second moments about the centre of mass, sum over particles of m d d^T; not traceless, because under
/// Plummer softening the trace enters the force.
struct NodeMoments {
  float xx, yy, zz, xy, xz, yz;
};

/// How nodes hang together. Children of a node are chained: the first is `child`, the following ones are
/// found by `next` until it equals the parent's `next`.
struct NodeLinks {
  std::int32_t child;  ///< "more": the first child; -1: a bucket, its particles are the sources
  std::int32_t next;   ///< where a walk goes on when this node's subtree is done; -1 at the end
  std::int32_t first;  ///< its first particle, index into the arrays of sources
  std::int32_t count;  ///< its particles
};

/// What walks read of a source particle; offset from the leaf's origin.
struct alignas(16) SourceParticle {
  Vec3f position;
  float mass;
};

/// A group of particles that are walked together, at most 32, inside one leaf. Positions are offsets from the
/// leaf's origin.
struct Group {
  Vec3f low, high;           ///< tight box of its particles
  float least_acceleration;  ///< smallest |a_old|
  float softening;           ///< H: largest radius of spline softening among its particles
  std::int32_t first;        ///< its first particle
  std::int32_t count;
};

}  // namespace grove
