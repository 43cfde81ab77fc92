#include "decomposition/domain.hpp"

#include <algorithm>

namespace grove {

Vec3d Domain::origin(std::int32_t leaf_index) const {
  const Cell& cell = leaf(leaf_index);
  return 0.5 * (box.position(cell.low) + box.position(cell.high));
}

int Domain::owner(std::int32_t leaf_index) const {
  return static_cast<int>(std::upper_bound(first_leaf.begin(), first_leaf.end(), leaf_index) -
                          first_leaf.begin()) -
         1;
}

}  // namespace grove
