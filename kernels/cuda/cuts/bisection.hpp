#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/timers.hpp"
#include "base/types.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// A cell whose records are on this GPU, perhaps a leaf already: its count, weight, leaves and numbering are
/// given, its bounds are not.
struct SubtreeRoot {
  Cell cell;
  std::uint64_t first;  ///< its first record
};

/// Cuts cells whose particles are all on this GPU down to the leaves of the ORB; the same cells as
/// grove::cut_to_leaves() finds on the host, bit for bit. Cuts do not look at weights.
///
/// Breadth-first, all cells of a level at once: search, partition with the children's bounds (OrbPartition).
/// Cells of more than 2^24 records are cut with the help of the host (BracketSearch), all others without
/// (OrbDescent). If the records come in the order of a similar tree, most of them are not moved until they
/// are in their leaves (RunDescent). Only cells, bounds and cuts cross to the host.
///
/// scheme, roots: as for grove::cut_to_leaves(), all records in one of them; the subtree of each is returned.
/// records (in/out): those of all roots, returned so that the records of every cell are contiguous, in tree
/// order, otherwise in the order given unless they came in that of a similar tree. spare: memory of the same
/// size; may come back exchanged with the records. ids (device, by index): nullptr: the index is the id.
/// InputError if ids are not unique where a cut meets equal coordinates. weights (device, by index): cells
/// get their sums, the roots too; nullptr: every particle weighs 1.
///
/// levels (optional, in/out): each level adds to its phase (level_name), levels that are started together to
/// that of the first of them, as all are that RunDescent cuts; depth: that of the first one.
///
/// Cost per level: 8 bytes read and, for the partition, 16 bytes read and written per record; five launches.
/// By runs: see RunDescent. When it returns, the records may still be on their way.
std::vector<std::vector<Cell>> cut_to_leaves(const CutScheme& scheme, std::span<const SubtreeRoot> roots,
                                             DeviceRecords& records, DeviceRecords& spare,
                                             const ParticleId* ids, const std::uint32_t* weights = nullptr,
                                             PhaseTimers* levels = nullptr, std::size_t depth = 0);

}  // namespace grove::cuda
