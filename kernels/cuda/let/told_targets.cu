#include "kernels/cuda/let/told_targets.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/told_bounds.hpp"

namespace grove::cuda {
namespace {

struct Telling {
  LeafTrees trees;
  const float* old_acceleration;
  const std::uint8_t* rung;
  AcceptanceRule rule;
  double per_acceleration, unit_length;
  int first_active;
  float room;
  bool is_new;
  float* drift;
  LeafTargets* told;
  int* lacking;

  __device__ float mean_size(const LeafPlaces& leaf) const {
    float sum = 0;
    for (std::int32_t g = lane_index(); g < leaf.groups; g += 32)
      sum += half_size(trees.groups[leaf.group + static_cast<std::uint64_t>(g)].bounds);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return leaf.groups > 0 ? sum / static_cast<float>(leaf.groups) : 0;
  }

  /// The groups with particles from one rung below the first active one on, and the least |a_old| of these.
  __device__ TargetBounds bounds_of(const LeafPlaces& leaf, float& least) const {
    TargetBounds bounds = no_bounds();
    least = largest_float;
    for (std::int32_t g = lane_index(); g < leaf.groups; g += 32) {
      const Group& group = trees.groups[leaf.group + static_cast<std::uint64_t>(g)];
      const std::uint64_t first = leaf.first + static_cast<std::uint64_t>(group.first);
      bool may_be_active = false;
      for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(group.count); ++i) {
        if (rung[i] + 1 < first_active) continue;
        may_be_active = true;
        least = min(least, old_acceleration[i]);
      }
      if (may_be_active) widen(bounds, group.bounds.low, group.bounds.high);
    }
    for (int step = 16; step > 0; step /= 2) {
      least = min(least, __shfl_xor_sync(~0u, least, step));
      for (int axis = 0; axis < 3; ++axis) {
        bounds.low[axis] = min(bounds.low[axis], __shfl_xor_sync(~0u, bounds.low[axis], step));
        bounds.high[axis] = max(bounds.high[axis], __shfl_xor_sync(~0u, bounds.high[axis], step));
      }
    }
    return bounds;
  }
};

/// A warp per leaf.
__global__ void __launch_bounds__(threads) tell_leaves(const Telling to) {
  const std::uint32_t leaf = blockIdx.x * warps + threadIdx.x / 32;
  if (leaf >= to.trees.count) return;
  const LeafPlaces place = to.trees.leaves[leaf];
  const LeafTargets active{to.trees.bounds[leaf], to.trees.origin[leaf], to.trees.ball_of(leaf)};
  float drift = 0;
  if (to.is_new) {
    drift = to.room * to.mean_size(place);
  } else {
    // Origins follow the particles.
    const LeafTargets before = to.told[leaf];
    if (active.are_none() || (is_within(active.about(before.origin, to.unit_length), before.bounds) &&
                              is_within(active.ball, before.ball)))
      return;
    drift = 2 * to.drift[leaf];
  }
  float least = 0;
  TargetBounds bounds = to.bounds_of(place, least);
  if (lane_index() != 0) return;
  if (!to.is_new) *to.lacking = 1;
  to.drift[leaf] = drift;
  if (!LeafTargets{bounds, active.origin}.are_none())
    bounds = with_room(bounds, to.rule, static_cast<float>(least * to.per_acceleration), to.room, drift);
  to.told[leaf] = {bounds, active.origin, active.ball.drifted(drift * to.unit_length)};
}

}  // namespace

ToldTargets::ToldTargets(const Now& now, int first_active, float room)
    : first_active_(first_active), room_(room), drift_(now.trees.count), told_(now.trees.count) {
  tell(now, true);
}

void ToldTargets::renew(const Now& now) { tell(now, false); }

void ToldTargets::tell(const Now& now, bool is_new) {
  lacking_.clear();
  if (now.trees.count == 0) return;
  tell_leaves<<<blocks_for(now.trees.count, warps), threads, 0, stream()>>>(
      Telling{now.trees, now.old_acceleration, now.rung, now.rule, now.per_acceleration, now.unit_length,
              first_active_, room_, is_new, drift_.data(), told_.data(), lacking_.data()});
  launched("Grove::cuda::tell_targets");
}

}  // namespace grove::cuda
