#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/neighbours/united_bounds.cuh"

namespace grove::cuda {

/// The warp of this thread, as kernels/math/friend_cells.hpp wants one. All of its lanes call it.
struct WarpInStep {
  template <class Predicate>
  __device__ unsigned ballot(const Predicate& predicate) const {
    return __ballot_sync(~0u, predicate(static_cast<unsigned>(lane_index())));
  }

  template <class Bounds>
  __device__ NeighbourBounds united(const Bounds& bounds) const {
    return cuda::united(bounds(static_cast<unsigned>(lane_index())));
  }

  /// action() returns a number.
  template <class Action>
  __device__ std::uint32_t once(const Action& action) const {
    std::uint32_t value = 0;
    if (lane_index() == 0) value = action();
    return __shfl_sync(~0u, value, 0);
  }
};

}  // namespace grove::cuda
