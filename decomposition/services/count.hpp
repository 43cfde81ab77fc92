#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Particles and weight of top cells. Cost: none.
struct CountParticles {
  static constexpr std::string_view name = "count";
  using Input = CellNumber;
  using Output = Tally;
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
