#include "decomposition/domain.hpp"

#include <algorithm>

namespace grove {

int Domain::owner(std::int32_t leaf_index) const {
  return static_cast<int>(std::upper_bound(first_leaf.begin(), first_leaf.end(), leaf_index) -
                          first_leaf.begin()) -
         1;
}

}  // namespace grove
