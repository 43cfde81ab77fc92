#pragma once

/// Marks a function that both backends compile: for the host always, for the device too when the compiler is
/// one.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define GROVE_HOST_DEVICE __host__ __device__
#else
#define GROVE_HOST_DEVICE
#endif
