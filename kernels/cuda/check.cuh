#pragma once

#include <cuda_runtime.h>

/// Every call of CUDA goes through this: std::runtime_error with the call and the driver's answer.
#define GROVE_CUDA(call) ::grove::cuda::check((call), #call)
/// Behind every launch.
#define GROVE_CUDA_LAUNCHED(kernel) ::grove::cuda::check(cudaGetLastError(), kernel)

namespace grove::cuda {

void check(cudaError_t status, const char* call);

}  // namespace grove::cuda
