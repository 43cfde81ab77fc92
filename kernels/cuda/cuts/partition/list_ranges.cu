#include "kernels/cuda/cuts/partition/list_ranges.hpp"

#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

/// The begin of a range: in the list, and among all particles.
struct RangePlace {
  std::uint64_t in_list, first;
};

__global__ void __launch_bounds__(threads)
    number_listed(const RangePlace* ranges, int range_count, std::size_t count, std::uint32_t* numbers) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  int low = 0, high = range_count;  // the last range that begins at i or before
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (ranges[middle].in_list <= i ? low : high) = middle;
  }
  numbers[i] = static_cast<std::uint32_t>(ranges[low].first + (i - ranges[low].in_list));
}

}  // namespace

DeviceArray<std::uint32_t> list_ranges(std::span<const ParticleRange> ranges) {
  std::vector<RangePlace> places;
  std::uint64_t count = 0;
  for (const ParticleRange& range : ranges) {
    places.push_back({count, range.first});
    count += range.count;
  }
  DeviceArray<std::uint32_t> numbers(count);
  if (count == 0) return numbers;
  const DeviceArray<RangePlace> device_places{std::span<const RangePlace>(places)};
  number_listed<<<blocks_for(count), threads, 0, stream()>>>(
      device_places.data(), static_cast<int>(places.size()), count, numbers.data());
  launched("Grove::cuda::list_ranges");
  return numbers;
}

}  // namespace grove::cuda
