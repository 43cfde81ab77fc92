#pragma once

/// Marks a function that both backends compile: for the host always, for the device too when the compiler is
/// one.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define GROVE_HOST_DEVICE __host__ __device__
#else
#define GROVE_HOST_DEVICE
#endif

/// Before a loop: unrolls it whole, so that an array it goes through becomes registers, and numbers that follow
/// from the loop's own are known. At most 16 times where g++ compiles it.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define GROVE_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define GROVE_UNROLL _Pragma("GCC unroll 16")
#else
#define GROVE_UNROLL
#endif
