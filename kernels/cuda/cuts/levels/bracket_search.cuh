#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/cuts/levels/orb_search.cuh"
#include "kernels/cuda/cuts/partition/left_counts.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// Finds the exact cuts of cells too large for one block to search their lists, after one pass over their
/// coordinates (bracket_pass.cuh): OrbSearch finds the cuts in the lists. If a bracket does not hold its cut,
/// the search says so, and OrbSearch has to do it all.
///
/// Cost: reads the coordinates of one axis once, writes and reads 8 bytes for each in a bracket.
class BracketSearch {
 public:
  /// As for OrbSearch.
  BracketSearch(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme)
      : columns_{columns[0], columns[1]}, ids_(ids), scheme_(scheme) {}

  /// host_tasks: the tasks; tasks (in/out, device): the same, the result is filled in. pieces: tiles of the
  /// partition. left: what goes left in each of them is counted and added up. False: nothing is found.
  bool run(std::span<const CellTask> host_tasks, CellTask* tasks, const Tiles& pieces, LeftCounts& left);

 private:
  Columns columns_[2];
  const ParticleId* ids_;
  CutScheme scheme_;
};

}  // namespace grove::cuda
