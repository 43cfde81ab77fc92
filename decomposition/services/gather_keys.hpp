#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// The coordinates themselves that lie in an interval of each top cell, when few are left in it; in no order.
/// Cost: one vectorised pass over the lined-up coordinates.
struct GatherKeys {
  static constexpr std::string_view name = "gather_keys";
  using Input = KeyInterval;
  using Output = GatheredKey;
  static void run(RankParticles& own, std::span<const Input> input, std::vector<Output>& answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::vector<Output>& answer);
};

}  // namespace grove::services
