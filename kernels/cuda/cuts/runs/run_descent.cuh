#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/cuts/levels/orb_descent.cuh"
#include "kernels/cuda/cuts/runs/runs.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Cuts cells down to the leaves where records come in the order of an earlier tree, by runs of them
/// (runs.cuh). The result does not depend on that order, only the time does.
///
/// Level by level, six launches each: a window for each cut, from the bounds of runs; two looks at the runs
/// there, of which the first narrows the windows; the cuts; the division of the runs that they meet. A cell
/// that has become small is one block's, down to its leaves, whose records it gathers.
///
/// Cost: grows with the surfaces of cells, not with the depth of the tree; 5.5 bytes of device memory per
/// record.
class RunDescent {
 public:
  /// records: divided in place, in vain if there are too many runs in the end; sorted: where they come to in
  /// the order of the leaves. ids, scheme: as for OrbSearch.
  RunDescent(const Columns& records, const Columns& sorted, const ParticleId* ids, const CutScheme& scheme)
      : records_(records), sorted_(sorted), ids_(ids), scheme_(scheme) {}

  /// True if records that are neighbours are close together, so that run() will be fast. Cost: a look at a
  /// thousand runs.
  bool suits(std::span<const OrbCell> roots) const;

  using TakeCut = OrbDescent::TakeCut;

  /// roots (host): numbered from 0, neighbours in the array, all records in one of them; leaves among them
  /// are gathered, too; their bounds need not be known. take: as for OrbDescent, but the cuts do not know the
  /// bounds of children. Returns the bounds of all cells by number; nothing: runs, or leaves if their number
  /// is not known before, came to be too many, what was taken is of no use.
  std::optional<std::vector<CellBounds>> run(std::span<const OrbCell> roots, const TakeCut& take);

 private:
  RunWork prepare(std::span<const OrbCell> roots, RunHead& head);
  void cut_large(const RunWork& work, RunHead& head) const;
  RunHead cut_small(const RunWork& work, const RunHead& before, const TakeCut& take);

  Columns records_, sorted_;
  const ParticleId* ids_;
  CutScheme scheme_;
  DeviceArray<RunHead> head_;
  DeviceArray<RunCell> cells_;
  DeviceArray<std::uint32_t> runs_[8], bins_, small_cells_;
  DeviceArray<RunTask> listings_, divisions_;
  DeviceArray<FoundCut> cuts_;
  DeviceArray<CellBounds> bounds_;
};

}  // namespace grove::cuda
