#pragma once

#include "kernels/cuda/device/warp_bounds.cuh"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/leaf_bodies.hpp"

/// The common parts of the updates of all kinds of trees.
namespace grove::cuda {

/// The same for all leaves.
struct UpdateRule {
  AcceptanceRule acceptance;
  double per_length, per_mass, per_acceleration;
  float softening_of[particle_types];

  static UpdateRule of(const GravityParameters& gravity, const WalkUnits& units, double median_acceleration) {
    UpdateRule rule{AcceptanceRule::of(gravity, units, median_acceleration),
                    1 / units.length,
                    1 / units.mass,
                    to_walk_acceleration(1, gravity.gravitational_constant, units),
                    {}};
    for (std::size_t type = 0; type < particle_types; ++type)
      rule.softening_of[type] = static_cast<float>(gravity.softening[type] * rule.per_length);
    return rule;
  }
};

/// True if particle i of all leaves is active.
__device__ inline bool is_active(const LeafParticleFields& particles, std::uint64_t i) {
  return !particles.rung || particles.rung[i] >= particles.first_active;
}

/// A group's bounds get the least tolerance of its active particles. By a warp, a lane per particle. least:
/// its |a_old|. Returns Group::active.
__device__ inline std::uint32_t set_tolerance(const UpdateRule& rule, bool is_active, float least,
                                              TargetBounds& bounds) {
  const unsigned active = __ballot_sync(~0U, is_active);
  least = __uint_as_float(__reduce_min_sync(~0U, __float_as_uint(is_active ? least : largest_float)));
  if (active != 0)
    bounds.inverse_tolerance =
        rule.acceptance.inverse_tolerance(static_cast<float>(least * rule.per_acceleration));
  return active;
}

/// The group of a leaf that holds a particle.
__device__ inline std::int32_t group_at(const GroupRun* runs, std::int32_t groups, std::int32_t particle) {
  std::int32_t low = 0, high = groups;  // runs[low].first <= particle
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    if (runs[middle].first <= particle)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The body that makes sources of the particles of a leaf.
__device__ inline SourceBody source_body(const UpdateRule& rule, const Vec3d& origin,
                                         const LeafParticleFields& particles, const LeafTrees& trees,
                                         const LeafPlaces& leaf) {
  SourceBody source{origin,
                    rule.per_length,
                    rule.per_mass,
                    {},
                    particles.position + leaf.first,
                    particles.mass + leaf.first,
                    particles.type + leaf.first,
                    trees.sources + leaf.first,
                    trees.softening + leaf.first};
  for (int type = 0; type < particle_types; ++type) source.softening_of[type] = rule.softening_of[type];
  return source;
}

/// Every so many particles of a leaf one is in the sample that Forest::find_origin() takes: 64 to 127, or
/// all.
__device__ inline std::int32_t sample_stride(std::int32_t count) { return max(1, count / 64); }

/// The median of each axis in the sample, as Forest::find_origin() takes it. By a warp.
__device__ inline Vec3d find_origin(const Vec3d* position, std::int32_t count) {
  constexpr int per_lane = 4;
  const std::int32_t stride = sample_stride(count), size = (count + stride - 1) / stride;
  const int lane = static_cast<int>(threadIdx.x % 32);
  Vec3d origin;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    double value[per_lane];
    std::int32_t rank[per_lane] = {};
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const std::int32_t i = 32 * k + lane;
      value[k] = i < size ? position[static_cast<std::int64_t>(i) * stride][axis] : 0;
    }
#pragma unroll
    for (int other = 0; other < per_lane; ++other)
      for (int source = 0; source < 32; ++source) {
        const double its = __shfl_sync(~0u, value[other], source);
        const std::int32_t j = 32 * other + source;
        if (j >= size) break;
#pragma unroll
        for (int k = 0; k < per_lane; ++k)
          rank[k] += its < value[k] || (its == value[k] && j < 32 * k + lane);
      }
    double found = 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const bool is_median = 32 * k + lane < size && rank[k] == size / 2;
      const unsigned votes = __ballot_sync(~0u, is_median);
      if (votes) found = __shfl_sync(~0u, value[k], __ffs(static_cast<int>(votes)) - 1);
    }
    origin[axis] = found;
  }
  return origin;
}

}  // namespace grove::cuda
