#pragma once

#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"

namespace grove::services {

/// Makes room for what the other services need.
struct Init {
  static constexpr std::string_view name = "init";
  struct Input {
    std::int32_t unused;
  };
  using Output = std::int32_t;
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output&, const Output&) {}
};

}  // namespace grove::services
