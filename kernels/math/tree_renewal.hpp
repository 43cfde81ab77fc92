#pragma once

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// Which trees follow their particles from step to step. Where steps are short, in the dense middles of
/// systems, particles cross their groups within a step or two, and their leaves within a few: nodes that are
/// moved and resized alone soon cost twice as much to walk, long before domain cells are mixed
/// (docs/measurements/block-steps.md, "Trees of active leaves"). So where few particles are active, the
/// domain cells that many of these are in are cut anew, and elsewhere the trees of such leaves. A domain cell
/// keeps its particles, and its leaves keep their numbers of them (CountedCut). As the numbers of nodes,
/// buckets and groups of a bisection follow from these, nothing else has to be told of it. From counts alone,
/// so the same on any number of ranks.
///
/// New cuts that lead by half of a long life are far from where the particles of dense middles are now, and
/// so are cuts that have lived as long behind their best moment. If many walk then, domain cells of the
/// deepest particles are cut anew: walks of half of all particles have taken ten times as long. At other
/// times that costs what it saves.
struct TreeRenewal {
  /// True if trees may be cut anew for so many particles. Those of more than a quarter of all cost nearly as
  /// much as new cuts of everything, which are better.
  static constexpr bool are_few(Count particles, Count deep) { return 4 * deep <= particles; }
  /// True if it is worth it. Fewer than an eighth of a mean leaf make up a quarter of hardly any leaf, and a
  /// renewal drops the selections of locally essential trees that were kept. leaves: of all ranks.
  static constexpr bool are_enough(Count particles, Count deep, Count leaves) {
    return 8 * deep * leaves >= particles;
  }

  /// True if a domain cell, or the tree of a leaf, of so many particles is cut anew.
  GROVE_HOST_DEVICE static constexpr bool takes(Count particles, Count deep) {
    return deep > 0 && 4 * deep >= particles;
  }
};

}  // namespace grove
