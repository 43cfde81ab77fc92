#pragma once

#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// A place where the force is wanted.
struct DirectTarget {
  Vec3d position;
  double softening;  ///< Plummer-equivalent length; a pair uses the larger of the two
  ParticleId id;     ///< the source of this id is left out
};

/// Rates for G = 1.
struct DirectForce {
  Vec3d acceleration{0, 0, 0};  ///< mass / length^2
  double potential = 0;         ///< mass / length, negative
};

}  // namespace grove
