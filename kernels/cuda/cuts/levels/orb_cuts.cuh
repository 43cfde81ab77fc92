#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/levels/orb_level.cuh"

namespace grove::cuda {

/// Finds the exact cuts of a level, at most so many of each kind as `bound` has, a block per cell: in the
/// list of its bracket, or, where it has none or the bracket does not hold the cut, among all keys of the
/// cell. Writes the result of the tasks, left_before, the pieces of cells without brackets, and bounds of
/// nothing.
///
/// Cost: reads a list about four times, the coordinates of one axis of a cell without a bracket about six
/// times, most of it in the caches.
void find_cuts(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme,
               const OrbLevel& level, const LevelSize& bound);

}  // namespace grove::cuda
