#include "kernels/cuda/device/rates.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {
namespace {

__global__ void nothing() {}

/// Seconds of the best of five tries.
template <class Work>
double best(const Work& work) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 5; ++i) {
    GROVE_CUDA(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    GROVE_CUDA(cudaDeviceSynchronize());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

}  // namespace

DeviceRates measure_rates() {
  constexpr int launches = 1000, transfers = 100;
  std::size_t free = 0, all = 0;
  GROVE_CUDA(cudaMemGetInfo(&free, &all));
  const std::size_t size = std::min(std::size_t{1} << 30, free / 4);
  const std::size_t bus_size = std::min(std::size_t{1} << 28, size);
  const DeviceArray<std::byte> from(size), to(size);
  std::vector<std::byte> host(bus_size);
  const Pinned pinned(host.data(), host.size());
  DeviceRates rates{};
  rates.copy_bytes = 2.0 * static_cast<double>(size) / best([&] {
                       GROVE_CUDA(cudaMemcpyAsync(to.data(), from.data(), size, cudaMemcpyDefault));
                     });
  const double bus_bytes = static_cast<double>(bus_size);
  rates.to_device = bus_bytes / best([&] { device_upload(to.data(), host.data(), bus_size); });
  rates.to_host = bus_bytes / best([&] { device_download(host.data(), from.data(), bus_size); });
  rates.launch_seconds = best([] {
                           for (int i = 0; i < launches; ++i) nothing<<<1, 32>>>();
                           launched("Grove::cuda::nothing");
                         }) /
                         launches;
  rates.transfer_seconds = best([&] {
                             for (int i = 0; i < transfers; ++i) device_download(host.data(), from.data(), 8);
                           }) /
                           transfers;
  return rates;
}

}  // namespace grove::cuda
