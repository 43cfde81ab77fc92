#include "commands/doctor_gpu.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/gpu/devices.hpp"
#include "kernels/cuda/device/nccl_group.hpp"

namespace grove {
namespace {

void set(std::array<char, 64>& to, const std::string& text) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

}  // namespace

RankGpu gpu_of_this_rank(const Communicator& comm) {
  RankGpu gpu;
  const std::optional<cuda::DeviceInfo> device = device_of_this_rank(comm);
  if (!device) return gpu;
  gpu.is_there = true;
  set(gpu.name, device->name);
  set(gpu.pci, device->pci);
  gpu.identity = device->identity;
  return gpu;
}

GpuLibraries gpu_libraries(const Communicator& comm) {
  take_devices(comm, true);
  return {mpi_takes_device_memory(comm), cuda::nccl_version()};
}

}  // namespace grove
