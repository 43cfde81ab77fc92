#pragma once

#include <cstdint>
#include <span>

#include "base/types.hpp"

namespace grove::cuda {

/// Sums over all particles of each leaf. work: device; leaf_begin (host): first particle of each leaf, length
/// leaves + 1; sums (out, host): by leaf. Cost: one pass.
void sum_leaf_work(const std::uint32_t* work, std::span<const Count> leaf_begin, std::span<Count> sums);

}  // namespace grove::cuda
