#include "let/told_targets.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/told_bounds.hpp"

namespace grove {
namespace {

/// Half the longest side of a group's box, in the mean; 0 of no groups.
float mean_size(const TargetLeaf& leaf) {
  float sum = 0;
  for (std::int32_t g = 0; g < leaf.group_count; ++g) sum += half_size(leaf.groups[g].bounds);
  return leaf.group_count > 0 ? sum / static_cast<float>(leaf.group_count) : 0;
}

}  // namespace

ToldTargets::ToldTargets(const Now& now, int first_active, float room)
    : first_active_(first_active), room_(room) {
  for (std::int32_t leaf = 0; leaf < now.forest.leaves(); ++leaf) {
    drift_.push_back(room * mean_size(now.forest.target(leaf)));
    told_.push_back(with_room(now, leaf));
  }
}

bool ToldTargets::hold(const Now& now) {
  bool all = true;
  for (std::int32_t leaf = 0; leaf < now.forest.leaves(); ++leaf) {
    const auto l = static_cast<std::size_t>(leaf);
    const TargetLeaf target = now.forest.target(leaf);
    if (const LeafTargets active{target.bounds, target.origin};
        active.are_none() ||
        (is_within(active.bounds, told_[l].bounds) && is_within(target.ball, told_[l].ball)))
      continue;
    drift_[l] *= 2;
    told_[l] = with_room(now, leaf);
    all = false;
  }
  return all;
}

LeafTargets ToldTargets::with_room(const Now& now, std::int32_t leaf) const {
  const auto l = static_cast<std::size_t>(leaf);
  const TargetLeaf target = now.forest.target(leaf);
  LeafTargets told{no_bounds(), target.origin, target.ball.drifted(drift_[l] * now.unit_length)};
  float least = largest_float;
  for (std::int32_t g = 0; g < target.group_count; ++g) {
    const Group& group = target.groups[g];
    const auto first = static_cast<std::size_t>(now.leaf_begin[l] + group.first);
    bool may_be_active = false;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(group.count); ++i) {
      if (now.particles.rung[i] + 1 < first_active_) continue;
      may_be_active = true;
      least = std::min(least, now.particles.old_acceleration[i]);
    }
    if (may_be_active) widen(told.bounds, group.bounds.low, group.bounds.high);
  }
  if (told.are_none()) return told;
  told.bounds = grove::with_room(told.bounds, now.rule, static_cast<float>(least * now.per_acceleration),
                                 room_, drift_[l]);
  return told;
}

}  // namespace grove
