#pragma once

#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Counts of what lies left of each of K equidistant candidate cuts of a top cell.
/// Cost: one pass over the lined-up coordinates; for few candidates, on the host, one vectorised pass each.
struct CountLeft {
  static constexpr std::string_view name = "count_left";
  using Input = CandidateCuts;
  using Output = Tally;  ///< one per candidate

  static std::size_t answer_size(std::span<const Input> input);
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
