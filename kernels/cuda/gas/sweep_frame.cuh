#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/neighbours/neighbour_walk.cuh"
#include "kernels/math/gas_density.hpp"

/// Units in which a warp computes sums over neighbours of gas in single precision.
namespace grove::cuda {

/// The smallest number of all lanes.
__device__ inline double warp_min(double value) {
  for (int other = 1; other < 32; other *= 2) {
    const double theirs = __shfl_xor_sync(~0U, value, other);
    value = theirs < value ? theirs : value;
  }
  return value;
}

/// The target with the smallest radius of those that are open, bits by lane, and those near it whose radii
/// are of its order. A group has mostly one such part; where it reaches from one clump to another, or
/// from dense gas to thin, it has several.
__device__ inline unsigned compact_part(const WarpTarget& target, unsigned open) {
  constexpr double room = 4;
  const bool is_open = (open >> lane_index() & 1) != 0;
  const double least = warp_min(is_open ? target.reach : NeighbourBounds::infinity);
  const int first = __ffs(static_cast<int>(__ballot_sync(~0U, is_open && target.reach == least))) - 1;
  const Vec3d place{__shfl_sync(~0U, target.place.x, first), __shfl_sync(~0U, target.place.y, first),
                    __shfl_sync(~0U, target.place.z, first)};
  const Vec3d d = target.place - place;
  const double farthest = max(std::abs(d.x), max(std::abs(d.y), std::abs(d.z)));
  return __ballot_sync(~0U, is_open && farthest <= room * least && target.reach <= room * least);
}

/// Places beside the middle of the targets in units of their extent, which is half the longest side of their
/// box and the largest radius; velocities and masses beside those of one of them. The extent of a
/// compact_part() is at most 8 of its radii, mostly below 2, so that places are rounded by 2^-25 times that.
struct SweepFrame {
  Vec3d middle, velocity;
  double extent, per_extent, mass, per_mass;
  float edge, per_edge;  ///< of a periodic box, if offsets may differ by more than half of that; else 0
  Vec3f half;            ///< of the box around the targets
  float reach;           ///< the largest of the targets
  float slack;           ///< more than the rounding of a distance r from the box, over 1 + r

  /// first: the flow at one of the targets in the box.
  __device__ static SweepFrame around(const NeighbourTree& tree, const NeighbourTarget& box,
                                      const FlowSource& first) {
    const NearestImage& nearest = tree.nearest;
    const double half = max(box.half.x, max(box.half.y, box.half.z)), extent = half + box.reach,
                 per_extent = 1 / extent, mass = first.mass > 0 ? first.mass : 1,
                 farthest = half + max(box.reach, tree.nodes[0].reach);
    const bool wraps = !nearest.is_open() && farthest > 0.49 * nearest.edge;
    return {box.centre,
            first.velocity,
            extent,
            per_extent,
            mass,
            1 / mass,
            wraps ? static_cast<float>(nearest.edge * per_extent) : 0,
            wraps ? static_cast<float>(nearest.per_edge * extent) : 0,
            (per_extent * box.half).as<float>(),
            static_cast<float>(per_extent * box.reach),
            static_cast<float>(0x1p-20 + 0x1p-50 * nearest.edge * per_extent)};
  }

  __device__ Vec3f offset(const Vec3d& place, const NearestImage& nearest) const {
    return (per_extent * nearest(place - middle)).as<float>();
  }
  /// The largest of the targets or this one.
  __device__ float reach_with(double other) const {
    return fmaxf(reach, static_cast<float>(per_extent * other));
  }
};

}  // namespace grove::cuda
