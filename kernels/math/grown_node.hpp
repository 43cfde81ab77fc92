#pragma once

#include "base/host_device.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// The node as it would be opened if its radius were larger by so much, over the radius: 0 to 1. Squared
/// distances at which nodes are opened grow like the square of the radius; with forces as criterion like its
/// power of 1 to 4/3 (acceptance.hpp), of which what is taken here is no less than the largest. Tests ask for
/// nodes that are smaller, down to -0.9, so that walks miss some.
GROVE_HOST_DEVICE inline NodeCore grown(NodeCore core, float share) {
  const float x = share < -0.9F ? -0.9F : share > 1 ? 1.F : share;
  core.reach2 *= (1 + x) * (1 + x);
  core.power *= (1 + x) * (1 + x * (1.F / 3));
  return core;
}

/// The same, if its particles drift so far (walk units).
GROVE_HOST_DEVICE inline NodeCore drifted(const NodeCore& core, float drift) {
  return drift == 0 || !(core.radius > 0) ? core : grown(core, drift / core.radius);
}

}  // namespace grove
