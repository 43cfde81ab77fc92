#pragma once

#include <cstdint>

#include "kernels/cuda/orb_cell.cuh"

namespace grove::cuda {

/// What runs of records, counted off from the first, are like.
struct RunOrder {
  bool is_close;  ///< they are short, as in the order of a tree; in no order they reach through most of space
  bool is_aligned;  ///< each holds the records that a run held when they were numbered (RunBegins)
};

/// Of at least one run. Cost: a look at a thousand runs.
RunOrder order_of_runs(const Columns& records, std::uint64_t count);

}  // namespace grove::cuda
