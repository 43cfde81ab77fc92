#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "machine/rank_place.hpp"

namespace grove {

/// Collective. The GPU that this rank would use; none, where there is none or Grove was built without CUDA.
RankGpu gpu_of_this_rank(const Communicator& comm);

/// How arrays would travel between GPUs.
struct GpuLibraries {
  bool mpi_takes_device_memory = false;
  std::string nccl;  ///< its version; empty: Grove was built without it
};
/// Collective, where every rank has a GPU: takes it and tries.
GpuLibraries gpu_libraries(const Communicator& comm);

}  // namespace grove
