#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"

namespace grove::cuda {

/// Sets in_vain (device) unless runs of records, at least one, are short, as they are in the order of a tree;
/// those of records in no order reach through most of space. Cost: a look at a thousand runs.
void check_order(const Columns& records, std::uint64_t count, std::uint32_t* in_vain);

}  // namespace grove::cuda
