#pragma once

#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Count-left among the particles of a top cell with one coordinate, which are ordered by id.
/// Cost: one pass over the lined-up coordinates, and over the tied particles.
struct SelectTie {
  static constexpr std::string_view name = "select_tie";
  using Input = TiedCuts;
  using Output = Tally;  ///< one per candidate

  static std::size_t answer_size(std::span<const Input> input);
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
