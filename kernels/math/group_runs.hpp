#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/node.hpp"

/// Splitting of groups in sparse regions: a group that reaches far opens what only some of its particles are
/// near to. Compare Miki and Umemura 2017, New Astron. 52, 65, section 2.
namespace grove {

/// The longest side of a box.
GROVE_HOST_DEVICE inline float longest_side(const TargetBounds& box) {
  const Vec3f side = box.high - box.low;
  return larger(side.x, larger(side.y, side.z));
}

/// Calls use(run) for the parts of a group whose boxes are as long as the critical separation at most: in
/// tree order, as many buckets as that allows, but one at least. Parts without active particles are left out.
/// They have the tolerance of the group.
///
/// particles: of the group; buckets: bit i: one begins with its particle i; critical: walk units. Cost: one
/// pass over the particles, nothing for a group that need not be split.
template <class Use>
GROVE_HOST_DEVICE void for_runs(const Group& group, const SourceParticle* particles, std::uint32_t buckets,
                                float critical, const Use& use) {
  if (longest_side(group.bounds) <= critical) {
    if (group.active != 0) use(group);
    return;
  }
  const auto end_run = [&](TargetBounds box, std::int32_t begin, std::int32_t end) {
    const std::uint32_t members = ~0U >> (group_size - (end - begin));
    const std::uint32_t active = group.active >> begin & members;
    box.inverse_tolerance = group.bounds.inverse_tolerance;
    box.softening = group.bounds.softening;
    if (active != 0) use(Group{box, group.first + begin, end - begin, active});
  };
  TargetBounds run = no_bounds();
  std::int32_t begin = 0;
  for (std::int32_t first = 0, next = 0; first < group.count; first = next) {
    TargetBounds bucket = no_bounds();
    do {
      const Vec3f& p = particles[next].position;
      widen(bucket, p, p, 0, 0);
    } while (++next < group.count && !(buckets >> next & 1U));
    TargetBounds both = run;
    widen(both, bucket.low, bucket.high, 0, 0);
    if (first > begin && longest_side(both) > critical) {
      end_run(run, begin, first);
      begin = first;
      both = bucket;
    }
    run = both;
  }
  end_run(run, begin, group.count);
}

}  // namespace grove
