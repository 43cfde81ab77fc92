#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

/// The data that a walk reads and writes: plain pointers into arrays that others own.
namespace grove {

/// A walk would have to open what no other rank has sent.
struct OpensPruned : std::logic_error {
  using std::logic_error::logic_error;
};

/// The tree of one leaf of the ORB, grown here or imported (then pruned). Positions are offsets from its
/// origin, in walk units. nodes == 0: not here; a walk that would need it fails.
struct SourceTree {
  Vec3d origin{0, 0, 0};                      ///< of the leaf, in length units of the run
  const NodeCore* core = nullptr;             ///< [nodes]; the root is the first
  const NodeMoments* moments = nullptr;       ///< [nodes]
  const NodeBox* boxes = nullptr;             ///< [nodes] if the criterion needs them
  const NodeLinks* links = nullptr;           ///< [nodes]
  const SourceParticle* particles = nullptr;  ///< of the buckets
  const std::uint8_t* types = nullptr;        ///< particle types, of the same length
  std::int32_t nodes = 0;
};

/// How a cell of the ORB hangs in the top tree.
struct TopLinks {
  std::int32_t child;       ///< its left child, the right one follows; -1: a leaf of the ORB
  std::int32_t first_leaf;  ///< number of the leftmost leaf below it
  std::int32_t leaves;      ///< leaves below it; 1 for a leaf

  /// Links of a cell of another rank, with nothing below it here: a walk that would need that fails.
  static TopLinks unknown() { return {-2, -1, 0}; }
  GROVE_HOST_DEVICE bool is_leaf() const { return child == -1; }

  /// True if a leaf is below it, or is it.
  GROVE_HOST_DEVICE bool holds(std::int32_t leaf) const {
    return leaf >= first_leaf && leaf < first_leaf + leaves;
  }
};

/// The tree over the leaves of the ORB, as far as a rank knows it. Leaves have the numbers that this rank
/// gives them; of cells above, `first_leaf` and `leaves` are of those that may be targets.
struct TopTree {
  const Vec3d* centre = nullptr;         ///< [nodes] centres of mass, in length units of the run
  const NodeCore* core = nullptr;        ///< [nodes] in walk units; `centre` there is not used
  const NodeMoments* moments = nullptr;  ///< [nodes] in walk units
  const NodeBox* boxes = nullptr;        ///< [nodes] in walk units
  const TopLinks* links = nullptr;       ///< [nodes]; the root is the first
  const Ball* balls = nullptr;           ///< [nodes]
  std::int32_t nodes = 0;
};

/// The particles of one own leaf, as targets.
struct TargetLeaf {
  std::int32_t leaf = 0;          ///< number of the own leaf
  Vec3d origin{0, 0, 0};          ///< in length units of the run
  TargetBounds bounds{};          ///< of all its groups
  const Group* groups = nullptr;  ///< [group_count]
  std::int32_t group_count = 0;
  const SourceParticle* particles = nullptr;  ///< of the leaf, in tree order
  const std::uint8_t* types = nullptr;        ///< of the same length
  /// [group_count] bit i: a bucket begins with particle i of the group; nullptr: groups are not split
  const std::uint32_t* buckets = nullptr;
  const float* old_acceleration = nullptr;  ///< of the particles, units of the run; for walks of single ones
  Ball ball{};
};

/// Factors from walk units to units of the run. In double precision: they may be out of the range of a float
/// where the results are not.
struct ForceUnits {
  double acceleration, potential;

  static ForceUnits of(const GravityParameters& gravity, const WalkUnits& units) {
    const double potential = gravity.gravitational_constant * units.mass / units.length;
    return {potential / units.length, potential};
  }
  GROVE_HOST_DEVICE Vec3f acceleration_of(const Vec3f& walked) const {
    return (walked.as<double>() * acceleration).as<float>();
  }
  /// walked: with its sign changed, as sums are.
  GROVE_HOST_DEVICE float potential_of(float walked) const { return static_cast<float>(-potential * walked); }
};

/// The results of some particles in tree order, those of a leaf or of all leaves, in units of the run (times
/// G). In the memory of whatever walks.
struct ForceOutput {
  Vec3f* acceleration = nullptr;
  float* potential = nullptr;
  std::uint32_t* work = nullptr;  ///< interactions with cells and particles

  GROVE_HOST_DEVICE void set(std::size_t particle, const Vec3f& a, float phi,
                             std::uint32_t interactions) const {
    acceleration[particle] = a;
    potential[particle] = phi;
    work[particle] = interactions;
  }
  GROVE_HOST_DEVICE void add(std::size_t particle, const Vec3f& a, float phi,
                             std::uint32_t interactions) const {
    acceleration[particle] += a;
    potential[particle] += phi;
    work[particle] += interactions;
  }
};

/// Totals of a walk. Integers, so they may be summed over ranks in any order.
struct WalkCounts {
  std::int64_t cell = 0;          ///< interactions of particles with cells
  std::int64_t particle = 0;      ///< interactions of particles with particles
  std::int64_t tests = 0;         ///< opening tests by groups
  std::int64_t expanded = 0;      ///< those of `cell` that came by expansions (local_expansion.hpp)
  std::int64_t instructions = 0;  ///< of all groups, see group_instructions()
  std::int64_t longest = 0;  ///< of the group, or share of one, that takes most, where others wait for it

  WalkCounts& operator+=(const WalkCounts& o) {
    cell += o.cell, particle += o.particle, tests += o.tests, expanded += o.expanded;
    instructions += o.instructions, longest += o.longest;
    return *this;
  }
};

/// The cost of a group, whatever the number of its particles, from its lists: instructions of a warp of an
/// H200 (docs/measurements/trees.md, "What stands for a group"), and some to begin with. cells: those that
/// are not expanded.
GROVE_HOST_DEVICE constexpr std::int64_t group_instructions(std::int64_t cells, std::int64_t expanded,
                                                            std::int64_t particles, std::int64_t tests) {
  return 34 * cells + 13 * expanded + 15 * particles + 4 * tests + 500;
}

/// Offset that takes places in the source's leaf to places in the target's, in walk units. Everything that
/// compares places of two leaves uses this one, so that all ranks round alike.
inline Vec3f shift_between(const Vec3d& source_origin, const Vec3d& target_origin, const WalkUnits& units) {
  return ((source_origin - target_origin) * (1 / units.length)).as<float>();
}

}  // namespace grove
