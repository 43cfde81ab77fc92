#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/part_work.hpp"

namespace grove {

/// The time of the ranks for a longest step over that of perfect shares: in a step of some rungs all wait for
/// the one that has most to do there, so each kind of step counts by itself. work: by
/// rank; speeds: of the ranks, positive, in any unit. 1: nobody waits. Steps between two rungs are as
/// frequent as StepRule makes them; classes of PartWork are taken as rungs, all above the first as that one.
double time_over_least(std::span<const PartWork> work, std::span<const std::uint32_t> speeds);

/// Owners of parts of space, in their order, such that ranks wait for each other as little as can be had by
/// few runs: halves of the ranks share what they have by cuts, and halves of these, down to single ones. A
/// cut more has to save a 128th of the time, as it makes the surface longer through which ranks see each
/// other. No rank gets more than a quarter more than its share of the particles, if that can be. Two sides
/// that are alike are given out such that particles stay where they are.
///
/// parts (in): in an order in which neighbours are near each other. Returns the owner of each. The same
/// result everywhere. Cost: O(parts log P), and some 1000 sums of work for each cut.
std::vector<int> owners_by_rungs(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds);

}  // namespace grove
