#pragma once

#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Lines up the coordinates of a top cell's particles on the axis that it will be cut on, for count-left to
/// pass over, and counts those left of its middle and near it. Cost: one pass; on a GPU, where each
/// axis is an array of its own, none unless something is to be counted.
struct MakeAxis {
  static constexpr std::string_view name = "make_axis";
  using Input = AxisChoice;
  using Output = Count;  ///< AxisChoice::answers() for each

  static std::size_t answer_size(std::span<const Input> input);
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
