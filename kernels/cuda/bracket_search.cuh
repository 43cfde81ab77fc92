#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/left_counts.cuh"
#include "kernels/cuda/orb_cell.cuh"
#include "kernels/cuda/orb_search.cuh"
#include "kernels/cuda/tiles.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// Finds the exact cuts of large cells in one pass over their coordinates.
///
/// A sample of each cell brackets its cut between two coordinates. The pass counts what lies left of the
/// bracket, in each tile of the partition, and lists the few per cent that lie inside; OrbSearch finds the
/// cut in the list. A bracket that turns out not to hold its cut, or to hold too much, is no harm: the search
/// says so, and OrbSearch has to do it all. (Sampling before selection: Floyd and Rivest 1975, "Expected time
/// bounds for selection".)
///
/// Cost: reads the coordinates of one axis once, writes and reads 8 bytes for each in the bracket, and a
/// sample of one in 64.
class BracketSearch {
 public:
  /// As for OrbSearch.
  BracketSearch(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme);

  /// host_tasks: the tasks; tasks (in/out, device): the same, the result is filled in. pieces: tiles of the
  /// partition. left: what goes left in each of them is counted and added up. False: nothing is found.
  bool run(std::span<const CellTask> host_tasks, CellTask* tasks, const Tiles& pieces, LeftCounts& left);

 private:
  Columns columns_[2];
  const ParticleId* ids_;
  CutScheme scheme_;
  std::uint64_t most_sample_;  ///< that shared memory holds
  DeviceArray<std::uint32_t> sample_, list_keys_, list_places_;
};

}  // namespace grove::cuda
