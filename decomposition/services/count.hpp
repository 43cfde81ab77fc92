#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"
#include "decomposition/services/tally.hpp"

namespace grove::services {

/// Particles and weight of top cells. Cost: none.
struct CountParticles {
  static constexpr std::string_view name = "count";
  struct Input {
    std::int32_t cell;
  };
  using Output = Tally;
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
