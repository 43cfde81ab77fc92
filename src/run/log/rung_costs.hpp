#pragma once

#include "gravity/gravity.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

/// Costs of the rungs of block time steps since all particles were last synchronised; all counts are of all
/// ranks.
struct RungCosts {
  RungCounts particles{};     ///< of each rung, as they were chosen last
  RungCounts steps{};         ///< that particles of the rung have made
  RungCounts interactions{};  ///< of the particles of the rung
  /// Interactions of the steps in which this was the first active rung, and those of the busiest rank.
  RungCounts walked{}, busiest{};

  /// After a step whose active rungs begin with this one.
  void add_step(const ForceReport& forces, int first_active);
};

}  // namespace grove
