#pragma once

#include "kernels/math/opening.hpp"

namespace grove {

/// Says what the order of nodes does not go with, and what would be right; nullptr: nothing.
inline const char* fault_of_order(const GravityParameters& gravity) {
  if (gravity.order != Order::octupole) return nullptr;
  if (gravity.kernel == SofteningKernel::plummer)
    return "octupoles act beyond softening only, and Plummer's has no end; give gravity.kernel: spline "
           "(--kernel spline), or another order (--order), such as quadrupole";
  if (gravity.criterion == Criterion::relative_edge)
    return "the criterion relative_edge is for monopoles and quadrupoles; give gravity.criterion: "
           "acceleration (--criterion acceleration), or another order (--order), such as quadrupole";
  return nullptr;
}

/// Says what the criterion needs that these trees lack, and what would be right; nullptr: they lack nothing.
inline const char* fault_of_trees(const GravityParameters& gravity) {
  if (gravity.criterion == Criterion::opening_cell && !has_cells(gravity.tree))
    return "the criterion opening_cell takes the cells of octrees; give gravity.tree: octree (--tree "
           "octree), "
           "or another criterion (--criterion), such as opening_edge";
  return nullptr;
}

}  // namespace grove
