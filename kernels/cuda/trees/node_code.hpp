#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/cuda/trees/leaf_bisection.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// A node in one word: a bit for cells above the leaves; the number of its frame (of a leaf of the ORB that
/// the rank knows, or of such a cell); in as many bits as the largest tree of a leaf needs, its number there,
/// of cells 0.
inline constexpr std::uint32_t of_top = 1u << 31;

struct NodeCodes {
  int node_bits;

  /// most: nodes of a tree.
  static NodeCodes for_trees(std::int32_t most) {
    return {most > 1 ? static_cast<int>(std::bit_width(static_cast<std::uint32_t>(most - 1))) : 0};
  }
  constexpr std::uint32_t most_frames() const { return 1u << (31 - node_bits); }

  GROVE_HOST_DEVICE constexpr std::uint32_t root_of(std::int32_t leaf) const {
    return static_cast<std::uint32_t>(leaf) << node_bits;
  }
  GROVE_HOST_DEVICE constexpr std::uint32_t of_cell(std::int32_t cell) const {
    return of_top | static_cast<std::uint32_t>(cell) << node_bits;
  }
  GROVE_HOST_DEVICE constexpr std::uint32_t frame(std::uint32_t code) const {
    return (code & ~of_top) >> node_bits;
  }
  GROVE_HOST_DEVICE constexpr std::uint32_t node(std::uint32_t code) const { return code & mask(); }
  /// Another node of the same tree.
  GROVE_HOST_DEVICE constexpr std::uint32_t beside(std::uint32_t code, std::uint32_t node) const {
    return (code & ~mask()) | node;
  }

 private:
  GROVE_HOST_DEVICE constexpr std::uint32_t mask() const { return (1u << node_bits) - 1; }
};

/// Those of bisections.
inline constexpr NodeCodes bisection_codes{10};
static_assert(local_cells(most_in_leaf) <= 1 << bisection_codes.node_bits);

}  // namespace grove::cuda
