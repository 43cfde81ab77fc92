#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"
#include "decomposition/services/tally.hpp"

namespace grove::services {

/// What lies left of each of K equidistant candidate cuts of a top cell: the candidates are
/// first + step, first + 2 step, ... (below 2^32), and particles left of `first` do not count.
/// Cost: one pass over the lined-up coordinates; for few candidates one vectorised pass each.
struct CountLeft {
  static constexpr std::string_view name = "count_left";
  struct Input {
    std::int32_t cell;
    Coordinate first;
    Coordinate step;  ///< a power of two if there are more than `few` candidates
    std::int32_t candidates;
    std::int32_t weigh;  ///< 0: weights are not needed, numbers stand for them
  };
  using Output = Tally;  ///< one per candidate
  static constexpr std::int32_t few = 16;

  static std::size_t answer_size(std::span<const Input> input);
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
