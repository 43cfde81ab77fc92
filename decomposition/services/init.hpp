#pragma once

#include <span>
#include <string_view>

#include "base/box.hpp"
#include "decomposition/rank_particles.hpp"

namespace grove::services {

/// Makes the records of a rank's particles in the root cube; top cell 0 holds them all.
struct Init {
  static constexpr std::string_view name = "init";
  struct Input {
    Box box;
  };
  struct Output {
    ParticleId greatest_id;
  };
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other);
};

}  // namespace grove::services
