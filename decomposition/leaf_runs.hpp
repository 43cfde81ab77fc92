#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace grove {

/// Seconds of the rank that takes longest. work: by leaf; runs: first leaf of each rank, length P + 1;
/// speeds: work per second of each rank, positive.
double longest_time(std::span<const Count> work, std::span<const std::int32_t> runs,
                    std::span<const double> speeds);

/// Runs of leaves whose longest time is within half a per cent of the least that there can be; of such runs,
/// ends are where they are now, or as near as that allows. current: the runs that there are; arguments as
/// above. Cost: O(leaves + P log leaves).
std::vector<std::int32_t> runs_of_least_time(std::span<const Count> work,
                                             std::span<const std::int32_t> current,
                                             std::span<const double> speeds);

/// Of all ranks, the most that one gives and takes together. amount: by leaf.
Count most_moved(std::span<const Count> amount, std::span<const std::int32_t> from,
                 std::span<const std::int32_t> to);

/// Leaves that change their owner.
Count leaves_moved(std::span<const std::int32_t> from, std::span<const std::int32_t> to);

}  // namespace grove
