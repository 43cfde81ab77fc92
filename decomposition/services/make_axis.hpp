#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"

namespace grove::services {

/// Lines up the coordinates of a top cell's particles on the axis that it will be cut on, for count-left to
/// pass over, and counts those left of the spatial middle. Cost: one pass.
struct MakeAxis {
  static constexpr std::string_view name = "make_axis";
  struct Input {
    std::int32_t cell;
    std::int32_t axis;
    Coordinate middle;
  };
  struct Output {
    Count left_of_middle;  ///< particles with a coordinate less than `middle`
  };
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer.left_of_middle += other.left_of_middle; }
};

}  // namespace grove::services
