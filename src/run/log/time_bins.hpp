#pragma once

#include "gravity/gravity.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

/// What the levels of block time steps have cost since all particles were last synchronised; all counts are
/// of all ranks.
struct TimeBins {
  LevelCounts particles{};     ///< of each level, as they were chosen last
  LevelCounts steps{};         ///< that particles of the level have made
  LevelCounts interactions{};  ///< of the particles of the level
  /// Of the steps in which this was the first active level: the interactions, and those of the busiest rank.
  LevelCounts walked{}, busiest{};

  /// After a step whose active levels begin with this one.
  void add_step(const ForceReport& forces, int first_active);
};

}  // namespace grove
