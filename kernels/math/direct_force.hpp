#pragma once

#include "base/vec3.hpp"

namespace grove {

/// Rates for G = 1.
struct DirectForce {
  Vec3d acceleration{0, 0, 0};  ///< mass / length^2
  double potential = 0;         ///< mass / length, negative
};

}  // namespace grove
