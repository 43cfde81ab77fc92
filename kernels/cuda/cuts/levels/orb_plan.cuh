#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/levels/orb_level.cuh"

/// Lays out the cells of a level, on the device. Cost: one block; some 500 bytes read and written per cell.
namespace grove::cuda {

/// The first level: those of some cells that are no leaves. cells: device.
void plan_first_level(const CutScheme& scheme, const OrbCell* cells, std::uint32_t count,
                      const OrbLevel& level);

/// The level below one that has been cut, and the cuts found there, at their place in `cuts`. The children of
/// cut k have the numbers first_child + 2 k and the next. The two levels share all but heads, tasks, places.
void plan_next_level(const CutScheme& scheme, const OrbLevel& above, std::int32_t first_child, FoundCut* cuts,
                     const OrbLevel& level);

}  // namespace grove::cuda
