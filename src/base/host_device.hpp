#pragma once

/// Marks a function that both backends compile: for the host always, for the device too when the compiler is
/// one.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define GROVE_HOST_DEVICE __host__ __device__
#else
#define GROVE_HOST_DEVICE
#endif

/// Before a loop of few rounds, for device code and g++: unrolls it whole, so that an array which the counter
/// indexes becomes registers, and what follows from the counter alone is constant. nvcc has no such thing for
/// the host, and nothing happens there.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__clang__)
#define GROVE_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define GROVE_UNROLL
#else
#define GROVE_UNROLL _Pragma("GCC unroll 16")
#endif
