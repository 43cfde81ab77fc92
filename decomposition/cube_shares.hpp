#pragma once

#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/key_ranges.hpp"
#include "kernels/math/part_work.hpp"

namespace grove {

/// What the sharing of the root cube depends on.
struct CubeSharing {
  /// This rank's particles in each part; begin: of the parts, in Morton's order, the first one at 0.
  std::function<std::vector<PartWork>(std::span<const IntegerPosition> begin)> weigh;
  std::vector<std::uint32_t> speeds;  ///< of the ranks, positive, in any unit
  bool by_rungs = false;              ///< steps of each rung are shared out, not only their sum
  Count domain_cell = 0;              ///< geometric cells with no more particles have one owner
};

/// Shares the root cube out, whatever lies in it: geometric cells that reach over a rank boundary and are not
/// light are divided, some thousand at a time, until none is left; by rungs all cells are that are not light.
/// Then ranks may have several runs of them (owners_by_rungs()). The same on all ranks. Collective.
///
/// Cost: two to five rounds, of a call of `weigh` and a sum of at most 4096 numbers, or 8 for each rank; by
/// rungs ten times as many numbers.
KeyRanges share_out_cube(const Communicator& comm, const CubeSharing& sharing);

}  // namespace grove
