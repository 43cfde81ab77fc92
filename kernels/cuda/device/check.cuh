#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// Every call of CUDA goes through this: std::runtime_error with the call and the driver's answer.
#define GROVE_CUDA(call) ::grove::cuda::check((call), #call)

namespace grove::cuda {

void check(cudaError_t status, const char* call);

/// Behind every launch: checks it, and adds it to activity(). device_bytes: what the kernel must read and
/// write, where that grows with the particles. kernels: that were launched since the last call of this.
void launched(const char* kernel, std::uint64_t device_bytes = 0, unsigned kernels = 1);

/// Kernels behind a call of CUB for more elements than one block takes: a scan, selection or reduction; a
/// sort of keys of so many bits, which goes by digits of 8.
constexpr unsigned kernels_of_pass = 2;
constexpr unsigned kernels_of_sort(int bits) { return 2 + static_cast<unsigned>((bits + 7) / 8); }

}  // namespace grove::cuda
