#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "particles/particles.hpp"

namespace grove::testing {

/// Lets a quarter of the particles of a leaf be active, one fewer, all and none, leaf by leaf in turn: those
/// get this rung, all others the one below. Returns for each leaf whether it has a quarter or more.
inline std::vector<bool> activate_leaves(std::span<const Count> leaf_begin, std::uint8_t rung,
                                         Particles& particles) {
  std::vector<bool> have_a_quarter;
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    const Count count = leaf_begin[leaf + 1] - leaf_begin[leaf], quarter = (count + 3) / 4;
    const Count active[] = {quarter, std::max<Count>(quarter - 1, 0), count, 0};
    for (Count i = 0; i < count; ++i)
      particles.rung[static_cast<std::size_t>(leaf_begin[leaf] + i)] =
          static_cast<std::uint8_t>(i < active[leaf % 4] ? rung : rung - 1);
    have_a_quarter.push_back(leaf % 2 == 0 && count > 0);
  }
  return have_a_quarter;
}

}  // namespace grove::testing
