#pragma once

#include <cstddef>
#include <span>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/direct_force.hpp"
#include "kernels/math/opening.hpp"

/// Direct summation in double precision: the reference for every other way to compute a force.
namespace grove {

/// Particles that attract; arrays of `count` elements, in, owned by the caller.
struct DirectSources {
  const Vec3d* position;    ///< length
  const double* mass;       ///< mass
  const double* softening;  ///< Plummer-equivalent length
  const ParticleId* id;
  std::size_t count;
};

/// Adds to forces[i] what the sources, and these images of them, do to targets[i]; both have the same length.
///
/// The order of summation depends on the order of the sources alone: blocks of fixed size, in each of them
/// eight partial sums. Coincident particles without softening give what is not a number. Cost: targets x
/// sources.
void direct_sum(SofteningKernel kernel, const DirectSources& sources, std::span<const DirectTarget> targets,
                std::span<DirectForce> forces, const Images& images = {});

}  // namespace grove
