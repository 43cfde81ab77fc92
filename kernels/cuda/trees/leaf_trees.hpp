#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// The place of a leaf's part in the arrays of all leaves.
struct LeafPlaces {
  std::uint64_t first;  ///< particle
  std::uint64_t node, group;
  std::int32_t count;  ///< particles
  std::int32_t nodes;
  std::int32_t groups;
};

/// The fields of particles that an update reads: in tree order, units of the run. Device memory.
struct LeafParticleFields {
  const Vec3d* position;
  const double* mass;
  const std::uint8_t* type;
  const float* old_acceleration;
  const std::uint8_t* rung = nullptr;  ///< Particles::rung; null: all are active
  int first_active = 0;                ///< the rung from which on particles are
  Box box{};                           ///< that gave the particles of these trees their coordinates
};

/// The data that walks read; walk units, offsets from the leaf's origin. Device memory.
struct LeafTrees {
  const LeafPlaces* leaves;
  std::uint32_t count;     ///< of leaves
  const NodeLinks* links;  ///< [nodes], and core and moments likewise
  const GroupRun* runs;    ///< [groups] their particles

  Vec3d* origin;            ///< [leaves] units of the run
  TargetBounds* bounds;     ///< [leaves] of the groups that are active
  TightBox* boxes;          ///< [leaves] of all particles
  Group* groups;            ///< [groups]
  SourceParticle* sources;  ///< [particles], and the next likewise
  float* softening;         ///< Plummer-equivalent lengths
  NodeCore* core;
  NodeMoments* moments;
  std::uint8_t* children = nullptr;  ///< of nodes, unless buckets; not there where kind says two
  NodeBox* node_boxes = nullptr;     ///< of nodes; not there where no criterion needs them
  std::uint8_t* levels = nullptr;    ///< [nodes] of cells (octree_cell.hpp), where the criterion takes them
  bool finds_levels = false;         ///< the trees are new: an update finds these
  LocalTreeKind kind = LocalTreeKind::bisection;
  const Ball* balls = nullptr;  ///< [leaves] in a box whose cells have some (find_balls())

  GROVE_HOST_DEVICE Ball ball_of(std::uint32_t leaf) const { return balls ? balls[leaf] : Ball{}; }
  /// The number of children of a node that is divided.
  GROVE_HOST_DEVICE int children_of(std::uint64_t node) const { return children ? children[node] : 2; }
};

/// Forest::update() on the GPU: origins, sources, groups, moments combined bottom-up in a fixed order with
/// exact radii, nodes prepared for the criterion. The same origins, sources and groups to the bit; moments to
/// rounding, but the same in every run. median_acceleration: global median of |a_old|, units of the run (0
/// for the opening angles). trees: bisections of at most most_in_leaf particles; links and leaves in, all
/// else out. One block per leaf. Cost: O(particles x depth) in single precision, O(nodes) in double.
void update_leaves(const LeafParticleFields& particles, const GravityParameters& gravity,
                   const WalkUnits& units, double median_acceleration, const LeafTrees& trees);

}  // namespace grove::cuda
