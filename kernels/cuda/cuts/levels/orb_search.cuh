#pragma once

#include "kernels/cuda/cuts/partition/left_counts.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// The facts about a round of the search that the host needs.
struct SearchProgress {
  std::uint64_t gathered;  ///< keys in all lists
  std::uint64_t again;     ///< records of cells whose bin should be divided again
};

/// Finds the exact cuts of all cells of a level, on the device.
///
/// A histogram of each cell's coordinates on its axis, with the middle at the edge of a bin, tells
/// how many records go left (CutScheme) and in which bin the cut is. The keys of that bin are gathered, and
/// the cut selected among them by (coordinate, id). Bins that hold too many keys are divided by histograms
/// of their own first.
///
/// On the way it counts what goes left in each tile of the partition.
///
/// Cost: reads the coordinates of one axis twice; once more for each further histogram (at most two).
class OrbSearch {
 public:
  /// columns: the two sets of columns that cells may be in; ids: device memory, by index, or nullptr: the
  /// index is the id. scheme: the rule; every record weighs 1.
  OrbSearch(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme)
      : columns_{columns[0], columns[1]}, ids_(ids), scheme_(scheme) {}

  /// tasks (in/out, device, tiles.tasks() of them): the search and the result are filled in. tiles: of
  /// tile_size; pieces: those of the partition, of which each tile holds whole ones. left: what goes left in
  /// each piece is counted and added up.
  void run(CellTask* tasks, const Tiles& tiles, const Tiles& pieces, LeftCounts& left);

 private:
  Columns columns_[2];
  const ParticleId* ids_;
  CutScheme scheme_;
  DeviceArray<std::uint32_t> bins_, list_fill_, list_keys_, list_indices_, list_pieces_;
  DeviceArray<SearchProgress> progress_;
};

}  // namespace grove::cuda
