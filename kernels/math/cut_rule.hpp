#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace grove {

/// Where cells are cut (design, section 2).
enum class CutRule : std::uint8_t {
  middle,  ///< near the spatial middle, counts rounded to a multiple of a quantum
  halves,  ///< the published ORB: equal weight per leaf
};

}  // namespace grove
