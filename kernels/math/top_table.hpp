#pragma once

#include <cstdint>
#include <vector>

#include "kernels/math/walk_views.hpp"

namespace grove {

/// The cells of the ORB that a rank knows before others send more of theirs, with leaves by the numbers that
/// this rank gives them: own ones first, left to right, then covers of other ranks that are leaves.
struct TopTable {
  /// Root first, children behind their parents, siblings neighbours; covers of other ranks that are no leaves
  /// are TopLinks::unknown().
  std::vector<TopLinks> cells;
  std::int32_t own_leaves = 0, leaves = 0;
  std::vector<std::int32_t> covers;  ///< the cell of each; none: all leaves are own ones
  std::int32_t first_own_cover = 0, own_covers = 0;

  bool is_own_cover(std::int32_t cover) const {
    return cover >= first_own_cover && cover < first_own_cover + own_covers;
  }
};

/// Cells below covers of other ranks, as these have sent them: they are numbered behind those of the table.
struct ImportedTop {
  struct Hung {
    std::int32_t cover, child;  ///< cells: `child` and the next lie below
  };
  std::vector<TopLinks> cells;
  std::vector<Hung> hung;
  std::int32_t leaves = 0;  ///< all that are known now
};

}  // namespace grove
