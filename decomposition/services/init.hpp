#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"

namespace grove::services {

/// Makes room for what the other services need. Cost: one pass over the ids.
struct Init {
  static constexpr std::string_view name = "init";
  struct Input {
    std::int32_t unused;
  };
  struct Output {
    ParticleId greatest_id;
  };
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other);
};

}  // namespace grove::services
