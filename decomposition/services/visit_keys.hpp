#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "base/types.hpp"
#include "kernels/host/bisection_native.hpp"

namespace grove::services {

/// Calls visit(key) for the coordinates in first..last, inclusive. Where few of them are, vectors pick them
/// out: one pass at the speed of memory.
template <class Visitor>
void visit_keys(std::span<const Coordinate> axis, Coordinate first, Coordinate last, Visitor&& visit) {
  using bisection::Native;
  constexpr std::size_t block = 1024;
  std::array<Coordinate, block + Native::padding> inside;
  for (std::size_t begin = 0; begin < axis.size(); begin += block) {
    const std::size_t size = std::min(block, axis.size() - begin);
    const std::size_t picked = Native::select(axis.data() + begin, size, first, last, inside.data()).count;
    for (std::size_t i = 0; i < picked; ++i) visit(inside[i]);
  }
}

}  // namespace grove::services
