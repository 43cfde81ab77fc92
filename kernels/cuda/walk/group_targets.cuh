#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/walk/group_scope.cuh"
#include "kernels/math/leaf_bodies.hpp"

/// The targets of a GroupWalk.
namespace grove::cuda {

/// Counts of a group: interactions of each target, and opening tests for all of them. cells: those that are
/// not expanded.
struct GroupCounts {
  std::uint32_t tests = 0, cells = 0, expanded = 0, particles = 0;

  __device__ std::uint32_t interactions() const { return cells + expanded + particles; }
  /// See grove::group_instructions().
  __device__ unsigned long long instructions() const {
    return static_cast<unsigned long long>(group_instructions(cells, expanded, particles, tests));
  }
};

/// The targets of a warp: particles that follow each other in a leaf, one or two groups. Target i gets its
/// force from lane i % 32. active: [2] shared, Group::active of each of the groups.
class WarpTargets {
 public:
  __device__ explicit WarpTargets(const WalkTargets& targets) : to_(targets) {}

  /// The number of a group among all. number: among those to be walked.
  __device__ std::uint32_t group(std::uint32_t number) const {
    return to_.active ? to_.active[number] : number;
  }

  /// The rule for far cells: GravityParameters::expansion_excess().
  __device__ float expansion_excess() const { return to_.expansion_excess; }

  /// The number of their leaf in the ORB.
  __device__ std::int32_t leaf() const { return leaf_; }
  const __device__ TargetBounds& bounds() const { return group_.bounds; }
  __device__ int count() const { return group_.count; }
  const __device__ SourceParticle* sources() const { return to_.trees.sources + first_; }

  /// True if a bucket is theirs.
  __device__ bool hold(const NodeLinks& bucket) const {
    return static_cast<std::uint32_t>(bucket.first - group_.first) < static_cast<std::uint32_t>(group_.count);
  }

  /// Begins their sums.
  template <class Sums>
  __device__ void begin(Sums& sums) const {
    sums.load(sources(), to_.trees.softening + first_, group_.count);
  }
  /// Puts the sums of those that are active: sums.total() for each row of 32. work: that these took.
  template <class Scope, int rows, class Sums>
  __device__ void put(const ForceUnits& units, const Sums& sums, std::uint32_t work, const ForceOutput& out,
                      const std::uint32_t* active) const {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const Accumulator<float> sum = sums.total(row);
      const int i = lane_ + 32 * row;
      if (i < group_.count && active[row] >> lane_ & 1U)
        put_force<Scope>(units, sum, work, first_ + static_cast<std::uint32_t>(i), out);
    }
  }

 protected:
  /// Returns the leaf of the group.
  const __device__ LeafPlaces& load_group(std::uint32_t g) {
    const std::uint32_t leaf = to_.leaf_of_group[g];
    group_ = to_.trees.groups[g];
    leaf_ = static_cast<std::int32_t>(leaf);
    return to_.trees.leaves[leaf];
  }
  /// leaf: theirs.
  __device__ void note_first(const LeafPlaces& leaf) {
    first_ = static_cast<std::uint32_t>(leaf.first) + static_cast<std::uint32_t>(group_.first);
  }
  /// joined: who is active in the group that has joined.
  __device__ void note_active(std::uint32_t joined, std::uint32_t* active) {
    __syncwarp();
    if (lane_ == 0) active[0] = group_.active, active[1] = joined;
    __syncwarp();
  }

  const WalkTargets& to_;
  const int lane_ = lane_index();

  Group group_;
  std::int32_t leaf_;    ///< number of their leaf
  std::uint32_t first_;  ///< their first particle
};

class OneGroup : public WarpTargets {
 public:
  static constexpr int most = group_size;
  using WarpTargets::WarpTargets;

  /// True if nothing is to be done for a group.
  __device__ static bool is_passed_over(std::uint32_t) { return false; }
  /// Loads a group. Returns its leaf.
  const __device__ LeafPlaces& load(std::uint32_t g, std::uint32_t* active) {
    const LeafPlaces& leaf = load_group(g);
    note_first(leaf);
    note_active(0, active);
    return leaf;
  }
  /// Targets that get forces.
  __device__ int active_count(const std::uint32_t* active) const { return __popc(active[0]); }
};

/// Two groups of a leaf that follow each other, if both have active particles; else the one that has.
class TwoGroups : public WarpTargets {
 public:
  static constexpr int most = 2 * group_size;
  using WarpTargets::WarpTargets;

  /// The second group of a pair has walked with the first.
  __device__ bool is_passed_over(std::uint32_t g) const { return to_.trees.groups[g].first % most != 0; }
  const __device__ LeafPlaces& load(std::uint32_t g, std::uint32_t* active) {
    const LeafPlaces& leaf = load_group(g);
    std::uint32_t joined = 0;
    if (group_.first + group_size < leaf.count) joined = join(to_.trees.groups[g + 1]);
    note_first(leaf);
    note_active(joined, active);
    return leaf;
  }
  __device__ int active_count(const std::uint32_t* active) const {
    return __popc(active[0]) + __popc(active[1]);
  }

 private:
  /// The next group joins the first one, or takes its place if only the next one is active. Returns who is
  /// active in a group that has joined.
  __device__ std::uint32_t join(const Group& next) {
    if (next.active == 0) return 0;
    if (group_.active == 0) {
      group_ = next;
      return 0;
    }
    widen(group_.bounds, next.bounds.low, next.bounds.high, next.bounds.inverse_tolerance,
          next.bounds.softening);
    group_.count += next.count;
    return next.active;
  }
};

}  // namespace grove::cuda
