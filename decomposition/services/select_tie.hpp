#pragma once

#include <span>
#include <string_view>

#include "decomposition/rank_particles.hpp"
#include "decomposition/services/tally.hpp"

namespace grove::services {

/// Count-left among the particles of a top cell with one coordinate, which are ordered by id: the candidates
/// are the ids first + step, first + 2 step, ..., and ids below `first` do not count.
/// Cost: one pass over the lined-up coordinates, and over the tied particles once per candidate.
struct SelectTie {
  static constexpr std::string_view name = "select_tie";
  struct Input {
    ParticleId first;
    ParticleId step;
    std::int32_t cell;
    Coordinate coordinate;
    std::int32_t candidates;
    std::int32_t unused;
  };
  using Output = Tally;  ///< one per candidate

  static std::size_t answer_size(std::span<const Input> input);
  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other) { answer += other; }
};

}  // namespace grove::services
