#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Tight bounds of top cells. Cost: one pass over their particles, unless they are known.
struct Bounds {
  static constexpr std::string_view name = "bounds";
  using Input = CellNumber;
  using Output = CellBounds;
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other);
};

}  // namespace grove::services
