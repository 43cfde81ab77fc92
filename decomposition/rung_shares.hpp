#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/part_work.hpp"

namespace grove {

/// Owners of parts of space, in their order, such that ranks wait for each other as little as can be had by
/// few runs: halves of the ranks share what they have by cuts, and halves of these, down to single ones. A
/// cut more has to save a 128th of the time, as it makes the surface longer through which ranks see each
/// other. No rank gets more than a quarter more than its share of the particles, if that can be. Two sides
/// that are alike are given out such that particles stay where they are.
///
/// Steps of two rungs are as frequent as StepRule makes them; classes of PartWork are taken as rungs, all
/// above the first as that one.
///
/// particle_work: of each particle in a longest step, beside that of its part, in equal parts in every step.
///
/// parts (in): in an order in which neighbours are near each other. speeds: of the ranks, positive, in any
/// unit. Returns the owner of each. The same result everywhere. Cost: O(parts log P), and some 1000 sums of
/// work for each cut.
std::vector<int> owners_by_rungs(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds,
                                 Count particle_work);

}  // namespace grove
