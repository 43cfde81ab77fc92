#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "decomposition/rank_particles.hpp"

namespace grove::services {

/// The cells that each rank cut alone, joined in rank order.
struct GatherCells {
  static constexpr std::string_view name = "gather_cells";
  struct Input {
    std::int32_t unused;
  };
  using Output = Cell;
  static void run(RankParticles& own, std::span<const Input>, std::vector<Output>& answer) {
    answer = own.own_cells;
  }
  static void run(DeviceRank& own, std::span<const Input> input, std::vector<Output>& answer);
};

}  // namespace grove::services
