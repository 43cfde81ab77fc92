#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/math/node.hpp"

namespace grove {

/// By how much more is selected than walks open now, so that walks of later steps find all they open in the
/// same selection. Less than zero (in tests): too little is selected.
struct DriftRoom {
  float of_cells = 0;                ///< by which the radius of a cell may grow, over the radius
  std::span<const float> of_leaves;  ///< [own leaves] how far their particles may drift, walk units; none: 0

  float of_leaf(std::int32_t leaf) const {
    return of_leaves.empty() ? 0 : of_leaves[static_cast<std::size_t>(leaf)];
  }
};

/// The node as it would be opened if its radius were larger by so much, over the radius. Squared distances
/// at which nodes are opened grow like the square of the radius; with forces as criterion like its power of
/// 6/5 at most (acceptance.hpp), which is less than what is taken here.
inline NodeCore grown(NodeCore core, float share) {
  const float x = std::clamp(share, -0.9F, 1.F);
  core.reach2 *= (1 + x) * (1 + x);
  core.power *= (1 + x) * (1 + 0.2F * x);
  return core;
}

/// The same, if its particles drift so far.
inline NodeCore drifted(const NodeCore& core, float drift) {
  return drift == 0 || !(core.radius > 0) ? core : grown(core, drift / core.radius);
}

}  // namespace grove
