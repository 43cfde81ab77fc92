#pragma once

namespace grove::cuda {

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % 32); }

/// The lanes before this one.
__device__ inline unsigned lanes_before() {
#if defined(__CUDA_ARCH__)
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
#else
  return (1u << lane_index()) - 1;
#endif
}

/// The sum of what all lanes have, in all of them, added in an order that is always the same.
template <class T>
__device__ T warp_sum(T value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
}

/// The sum of what the lanes up to this one have.
__device__ inline int inclusive_sum(int value) {
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, value, static_cast<unsigned>(step));
    if (lane_index() >= step) value += other;
  }
  return value;
}

}  // namespace grove::cuda
