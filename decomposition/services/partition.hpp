#pragma once

#include <span>
#include <string_view>

#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::services {

/// Divides the particles of a top cell at its cut into two new top cells, `child` and `child` + 1, and tells
/// what is in them. Cost: one pass, and one over its lined-up coordinates; on the host one more for the
/// bounds.
struct Partition {
  static constexpr std::string_view name = "partition";
  using Input = CellDivision;
  using Output = DivisionResult;
  /// Elements of the scratch array that may be written behind each of the two lists that it holds.
  static const std::size_t room_behind;

  static void run(RankParticles& own, std::span<const Input> input, std::span<Output> answer);
  static void run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer);
  static void combine(Output& answer, const Output& other);
};

}  // namespace grove::services
