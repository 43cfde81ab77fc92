#pragma once

#include "kernels/math/opening.hpp"

namespace grove {

/// Says what the criterion needs that these trees lack, and what would be right; nullptr: they lack nothing.
inline const char* fault_of_trees(const GravityParameters& gravity) {
  if (gravity.criterion == Criterion::opening_cell && !has_cells(gravity.tree))
    return "the criterion opening_cell takes the cells of octrees; give gravity.tree: octree (--tree "
           "octree), "
           "or another criterion (--criterion), such as opening_edge";
  return nullptr;
}

}  // namespace grove
