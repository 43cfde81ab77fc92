#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/cuda/leaf_bisection.hpp"
#include "kernels/math/cut_rule.hpp"

/// A node in one word: the number of its frame (of a leaf of the ORB, or of a cell above the leaves) and its
/// number there; of cells above the leaves 0.
namespace grove::cuda {

inline constexpr std::uint32_t of_top = 1u << 31;
inline constexpr int node_bits = 10;
inline constexpr std::uint32_t most_frames = 1u << (31 - node_bits);
inline constexpr std::uint32_t node_mask = (1u << node_bits) - 1;
static_assert(local_cells(most_in_leaf) <= 1 << node_bits);

GROVE_HOST_DEVICE constexpr std::uint32_t code_of(std::int32_t leaf, std::int32_t node) {
  return static_cast<std::uint32_t>(leaf) << node_bits | static_cast<std::uint32_t>(node);
}
GROVE_HOST_DEVICE constexpr std::uint32_t top_code_of(std::int32_t cell) { return of_top | code_of(cell, 0); }
GROVE_HOST_DEVICE constexpr std::uint32_t frame_of(std::uint32_t code) {
  return (code & ~of_top) >> node_bits;
}

}  // namespace grove::cuda
