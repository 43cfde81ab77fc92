#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"

namespace grove::services {

/// Tight bounds of top cells. Cost: one pass over their particles.
struct Bounds {
  static constexpr std::string_view name = "bounds";
  struct Input {
    std::int32_t cell;
  };
  struct Output {
    IntegerPosition low, high;  ///< both inclusive; low > high: no particle
  };
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other);
};

}  // namespace grove::services
