#pragma once

#include <string>

namespace grove {

/// Kokkos, from construction to destruction: one object in main, after MPI has begun and before it ends.
class KokkosRuntime {
 public:
  KokkosRuntime();
  ~KokkosRuntime();
  KokkosRuntime(const KokkosRuntime&) = delete;
  KokkosRuntime& operator=(const KokkosRuntime&) = delete;
};

/// Name of the execution space that Grove's loops run in.
std::string host_space_name();

}  // namespace grove
