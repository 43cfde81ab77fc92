#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"
#include "kernels/math/kd_cut.hpp"

namespace grove::cuda {

/// A node of a small tree.
struct KdSmallNode {
  std::int32_t first, count;  ///< in the order of the small tree
  std::uint32_t before;       ///< as KdNode::before
  IntegerPosition cut_low, cut_high;
};

/// Working memory of a warp. Particles stay in their slots; what is sorted are the numbers of the slots.
struct KdSmallMemory {
  static constexpr int most_waiting = 8;  ///< the smaller child goes first, so every one is half of the last
  static constexpr std::uint8_t no_slot = 255;  ///< small nodes have less than 256 particles

  Coordinate at[3][kd_large];
  std::uint32_t index[kd_large];
  double mass[kd_large];
  std::uint8_t slot[kd_large], next_slot[kd_large];  ///< in the order of the tree
  alignas(16) Coordinate key[kd_large];              ///< of the node that is sorted, in its order
  KdSmallNode waiting[most_waiting];
};
static_assert(kd_large <= 256 && kd_large % 32 == 0);

}  // namespace grove::cuda
