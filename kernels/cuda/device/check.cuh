#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// Every call of CUDA goes through this: std::runtime_error with the call and the driver's answer.
#define GROVE_CUDA(call) ::grove::cuda::check((call), #call)

namespace grove::cuda {

void check(cudaError_t status, const char* call);

/// Behind every launch: checks it, and adds it to activity(). device_bytes: what the kernel must read and
/// write, where that grows with the particles.
void launched(const char* kernel, std::uint64_t device_bytes = 0);

}  // namespace grove::cuda
