// Takes the place of doctor_gpu.cpp in a build without CUDA.
#include "commands/doctor_gpu.hpp"

namespace grove {

RankGpu gpu_of_this_rank(const Communicator&) { return {}; }
GpuLibraries gpu_libraries(const Communicator&) { return {}; }

}  // namespace grove
