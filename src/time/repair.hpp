#pragma once

#include <cstdint>

namespace grove {

/// What is done to the trees before a walk, after particles have moved; from cheap to dear.
enum class Repair : std::uint8_t {
  refit,    ///< new moments and boxes in the old trees
  rebuild,  ///< new trees in the old leaves
  cuts,     ///< a new decomposition, and new trees in its leaves
};

}  // namespace grove
