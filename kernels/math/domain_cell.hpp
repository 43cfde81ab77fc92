#pragma once

#include <cstdint>

namespace grove {

/// A cell between a domain cell and its leaves, with its number of particles left of its cut. Domain cells
/// are cut at multiples of a full leaf (CutRule::middle), so leaves hold what their numbers say wherever the
/// particles are: a cut at the same number of other particles leaves all counts as they are.
struct CountedCut {
  std::uint32_t first;  ///< its first particle, counted from the first one of the domain cell
  std::uint32_t count, left;
  std::int32_t depth;  ///< below the domain cell
  bool left_is_leaf, right_is_leaf;
};

/// A domain cell of several leaves, all of one rank.
struct DomainCell {
  std::uint64_t first;  ///< its first particle, and its first leaf, among those of the rank
  std::uint32_t count;
  std::int32_t first_leaf, leaves;
  std::uint32_t first_cut, cuts;  ///< parents before their children
};

/// Those of a rank, in host memory or in that of a device.
struct DomainCellsView {
  const DomainCell* cells = nullptr;
  std::uint32_t count = 0;
  const CountedCut* cuts = nullptr;
};

}  // namespace grove
