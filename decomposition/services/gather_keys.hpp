#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "decomposition/rank_particles.hpp"
#include "decomposition/services/tally.hpp"

namespace grove::services {

/// The coordinates themselves that lie in an interval of each top cell, when few are left in it; in no order.
/// Cost: one vectorised pass over the lined-up coordinates.
struct GatherKeys {
  static constexpr std::string_view name = "gather_keys";
  struct Input {
    std::int32_t cell;
    Coordinate first, last;  ///< both inclusive
    std::int32_t weigh;      ///< 0: weights are not needed, numbers stand for them
  };
  struct Output {
    Tally weight;  ///< of this one particle
    Coordinate key;
    std::int32_t input;  ///< which interval
  };
  static void run(RankParticles& own, std::span<const Input> input, std::vector<Output>& answer);
};

}  // namespace grove::services
