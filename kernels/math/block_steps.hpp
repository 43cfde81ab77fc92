#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

/// Block time steps: a particle of level k has steps of the run's longest one over 2^k (McMillan 1986, in The
/// Use of Supercomputers in Stellar Dynamics, 156). Levels of at least first_active have a step that begins
/// or ends at the present time; particles on them are active, and synchronised.
namespace grove {

/// Who shares a time step.
enum class StepKind : std::uint8_t {
  shared,  ///< all particles
  block,   ///< those that want one of about the same length
};

inline constexpr int deepest_level = 40, time_levels = deepest_level + 1;

/// A number by level; counts by level.
using LevelCounts = std::array<Count, time_levels>;
/// The same for devices, which take it by value.
struct LevelTable {
  double of[time_levels] = {};
};

/// How long a particle's step is: at most eta sqrt(l / |a|), l a length of its type.
struct StepRule {
  double eta = 0;
  double longest = 0;               ///< the step of level 0, time
  double length[particle_types]{};  ///< l, by type
  int deepest = 0;                  ///< no particle gets a deeper level

  /// The level that it wants. What is not a number gets the deepest.
  GROVE_HOST_DEVICE int level_of(const Vec3f& acceleration, std::uint8_t type) const {
    const double size = norm(acceleration.as<double>());
    if (size == 0 || deepest == 0) return 0;
    const double ratio = longest / (eta * std::sqrt(length[type] / size));
    if (ratio <= 1) return 0;
    if (!(ratio < 1e300)) return deepest;
    int exponent = 0;
    const double fraction = std::frexp(ratio, &exponent);  // at least 1/2: a power of two needs no more
    const int level = fraction > 0.5 ? exponent : exponent - 1;
    return level < deepest ? level : deepest;
  }
};

/// Interactions in a longest step of a particle of this level, from those of one evaluation; at most what the
/// type holds.
GROVE_HOST_DEVICE inline std::uint32_t work_per_cycle(std::uint32_t interactions, int level) {
  constexpr std::uint32_t most = ~std::uint32_t{0};
  return level < 32 && interactions <= most >> level ? interactions << level : most;
}

/// The next step of an active particle: the one that it wants, or the longest that begins now.
GROVE_HOST_DEVICE inline std::uint8_t next_level(int wanted, int first_active) {
  return static_cast<std::uint8_t>(wanted > first_active ? wanted : first_active);
}

}  // namespace grove
