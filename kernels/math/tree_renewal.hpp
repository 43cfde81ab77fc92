#pragma once

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// Which trees follow their particles from step to step. Where steps are short, in the dense middles of
/// systems, particles cross their groups within a step or two: nodes that are moved and resized alone soon
/// cost twice as much to walk, long before leaves are mixed (docs/measurements/block-steps.md, "Trees of
/// active leaves"). So where few particles are active, the trees of leaves that many of these are in are cut
/// anew. A leaf keeps its particles, and as the numbers of nodes, buckets and groups of a bisection follow
/// from that of its particles, nothing else has to be told of it. From counts alone, so the same on any
/// number of ranks.
struct TreeRenewal {
  /// True if a step of so many active particles renews trees; particles, leaves: of all ranks. The trees of
  /// more than a quarter of all cost nearly as much as new cuts of everything, which are better. Fewer than
  /// an eighth of a mean leaf make up a quarter of hardly any leaf, and a renewal drops the selections of
  /// locally essential trees that were kept.
  static constexpr bool is_for(Count particles, Count active, Count leaves) {
    return 4 * active <= particles && 8 * active * leaves >= particles;
  }

  /// True if the tree of a leaf of so many particles is cut anew.
  GROVE_HOST_DEVICE static constexpr bool takes(Count particles, Count active) {
    return active > 0 && 4 * active >= particles;
  }
};

}  // namespace grove
