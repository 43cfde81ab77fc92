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
/// that has become small is one block's, down to its leaves, whose records it gathers. The host starts as
/// many levels as cells usually need to become small, then the small ones, and waits once for all that was
/// found; again if some cell was not small yet, or more cuts were made than it had fetched.
///
/// Cost: grows with the surfaces of cells, not with the depth of the tree; 5.5 bytes of device memory per
/// record.
class RunDescent {
 public:
  /// records: divided in place, in vain if there are too many runs in the end; sorted: where they come to in
  /// the order of the leaves. ids, scheme: as for OrbSearch. weights: by index, for those of leaves; null:
  /// they are not wanted.
  RunDescent(const Columns& records, const Columns& sorted, const ParticleId* ids,
             const std::uint32_t* weights, const CutScheme& scheme)
      : records_(records), sorted_(sorted), ids_(ids), weights_(weights), scheme_(scheme) {}

  /// True if there are enough records, and leaves have as many as one block can gather.
  static bool suits(std::span<const OrbCell> roots);

  using TakeCut = OrbDescent::TakeCut;

  /// roots (host): numbered from 0, neighbours in the array, all records in one of them; leaves among them
  /// are gathered, too; their bounds need not be known. take: as for OrbDescent, but the cuts do not know the
  /// bounds of children. Returns what all cells have, by number. Nothing: what was taken is of no use;
  /// neighbours are not close together, so that this would be slow (check_order()), or runs, or
  /// leaves if their number is not known before, came to be too many.
  std::optional<std::vector<RunContent>> run(std::span<const OrbCell> roots, const TakeCut& take);

 private:
  RunWork prepare(std::span<const OrbCell> roots, RunHead& head);
  void cut_large(const RunWork& work, const RunHead& head) const;
  void cut_small(const RunWork& work, std::uint32_t begin) const;
  std::size_t expected_cuts(std::span<const OrbCell> roots) const;

  Columns records_, sorted_;
  const ParticleId* ids_;
  const std::uint32_t* weights_;
  CutScheme scheme_;
  std::uint64_t records_in_all_ = 0;
  DeviceArray<RunHead> head_;
  DeviceArray<RunCell> cells_;
  DeviceArray<std::uint32_t> runs_[8], bins_, small_cells_;
  DeviceArray<RunTask> listings_, divisions_;
  DeviceArray<FoundCut> cuts_;
  DeviceArray<RunContent> contents_;
};

}  // namespace grove::cuda
