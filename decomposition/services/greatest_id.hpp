#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"

namespace grove::services {

/// The greatest id of all particles. Cost: one pass over the ids.
struct GreatestId {
  static constexpr std::string_view name = "greatest_id";
  struct Input {
    std::int32_t unused;
  };
  using Output = ParticleId;
  static void run(RankParticles& own, std::span<const Input>, std::span<Output> answer) {
    for (const ParticleId id : own.particles.id) answer[0] = std::max(answer[0], id);
  }
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer = std::max(answer, other); }
};

}  // namespace grove::services
