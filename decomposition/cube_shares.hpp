#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/key_ranges.hpp"
#include "kernels/math/part_work.hpp"
#include "kernels/math/place_sample.hpp"

namespace grove {

/// The sharing of the root cube depends on these.
struct CubeSharing {
  /// Some of this rank's particles, in any order.
  std::function<std::vector<PlaceSample>(const SampleRates&)> sample;
  /// All of them by parts; begin: of the parts, in Morton's order, the first one at 0.
  std::function<std::vector<PartWork>(std::span<const IntegerPosition> begin)> weigh;
  std::array<Count, PartWork::classes> particles{};  ///< of all ranks, about, by class
  std::vector<std::uint32_t> speeds;                 ///< of the ranks, positive, in any unit
  Count particle_work = 0;  ///< of each particle in a longest step, beside its weight
  Count domain_cell = 0;    ///< geometric cells with no more particles have one owner
};

/// Shares the root cube out, whatever lies in it: geometric cells are divided in which there are more than a
/// few of a sample of all particles, and the work in those that are left is counted. Particles of one class
/// are shared out by equal work (Shares); of several by owners_by_rungs(), so that ranks may have several
/// runs of cells. The same on all ranks. Collective: two messages.
///
/// Cost: a call of `sample` and one of `weigh`; each rank tells 16 KiB; a sum of ten numbers for each of some
/// 100 cells a rank.
KeyRanges share_out_cube(const Communicator& comm, const CubeSharing& sharing);

}  // namespace grove
