#pragma once

#include <optional>
#include <string>

#include "base/display_units.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/gas.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The particle of gas to which Courant's condition gives the shortest step.
struct CourantStep {
  double step = 0;  ///< time
  ParticleId id = 0;
  Vec3d position{};
  double sound_speed = 0;      ///< where space expands the physical one
  double internal_energy = 0;  ///< the same
  double support_radius = 0;   ///< H
  double largest_radius = 0;   ///< H of any particle of gas
  double largest_energy = 0;   ///< as internal_energy, of any particle of gas: neighbours have fast signals

  /// The cause of so short a step, and what would be right.
  std::string text(const GasParameters& gas, const DisplayUnits& shown) const;
};

/// The bound that steps shall keep, as it is asked for.
struct StepBound {
  int deepest;       ///< rung that is deep enough
  Count may_exceed;  ///< so many particles may want deeper ones
};

/// Set if it is gas that makes steps too short: no more particles than the bound lets would exceed it by
/// gravity alone. scale_factor: 1 where space is static. The same on all ranks. Collective, a pass over the
/// particles.
std::optional<CourantStep> courant_step_to_blame(const Communicator& comm, const Particles& particles,
                                                 const GasParameters& gas, const StepRule& rule,
                                                 double scale_factor, const StepBound& bound);

}  // namespace grove
