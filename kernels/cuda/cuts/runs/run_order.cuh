#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"

namespace grove::cuda {

/// True if runs of records, at least one, are short, as they are in the order of a tree; those of records in
/// no order reach through most of space. Cost: a look at a thousand runs.
bool neighbours_are_close(const Columns& records, std::uint64_t count);

}  // namespace grove::cuda
