#pragma once

#include <cstdint>
#include <span>

#include "kernels/math/grown_node.hpp"

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

}  // namespace grove
