#pragma once

#include <span>

#include "kernels/host/bisection.hpp"

namespace grove {

/// How many records the longest prefix that the target accepts has, in the order of (coordinate on the axis,
/// id). records (in): any order. id, weight (in): by record index.
/// Cost: O(count) on average (quickselect), 16 bytes per record.
Count weighted_prefix(const CutTarget& target, std::span<const Record> records, int axis,
                      const ParticleId* id, const std::uint32_t* weight);

}  // namespace grove
