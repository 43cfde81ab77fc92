#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/orb_cell.cuh"

namespace grove::cuda {

/// Which runs some cells begin with.
struct RunBegins {
  DeviceArray<std::uint32_t> begin;  ///< record that a run begins with, ascending; at last, where all end
  std::vector<std::uint32_t> first;  ///< run of each cell; at last, their number

  std::uint32_t size() const { return first.back(); }
};

/// Divides cells, neighbours in the array, into runs of at most run_size records. A run holds records whose
/// numbers (Columns::at[3]), divided by run_size, are the same: where some records have gone and others have
/// come since they were numbered in the order of an earlier tree, all others still belong to the parts of
/// that tree that they belonged to, which runs counted off from the beginning of a cell would not respect.
/// Cost: reads the numbers twice.
RunBegins find_run_begins(const Columns& records, std::span<const OrbCell> cells);

}  // namespace grove::cuda
