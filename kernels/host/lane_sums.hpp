#pragma once

#include "kernels/host/list_sums.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/lanes.hpp"

namespace grove {

/// Adds what acts on the targets of the lanes from a number on.
GROVE_INLINE void add_to_targets(GroupLanes& lanes, int from, const Accumulator<Lanes>& force) {
  const Lanes terms[] = {force.acceleration.x, force.acceleration.y, force.acceleration.z, force.potential};
  for (int k = 0; k < 4; ++k) {
    Lanes sum = Lanes::load(lanes.sum[k] + from), rest = Lanes::load(lanes.rest[k] + from);
    add_exactly(sum, rest, terms[k]);
    sum.store(lanes.sum[k] + from);
    rest.store(lanes.rest[k] + from);
  }
}

}  // namespace grove
