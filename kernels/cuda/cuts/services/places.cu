#include "kernels/cuda/cuts/services/places.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

__global__ void __launch_bounds__(threads)
    find_parts(const Columns records, std::uint32_t count, const IntegerPosition* begin,
               const std::uint32_t* number, std::size_t parts, std::uint32_t* found, std::uint32_t* order) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const IntegerPosition place{records.at[0][i], records.at[1][i], records.at[2][i]};
  found[i] = number[part_of(begin, parts, place)];
  order[i] = i;
}

/// Sums of a block's records are put together in shared memory, if there is room. Records come in the order
/// of a tree, so those of a warp mostly lie in one part, and are added at once.
template <bool in_shared>
__global__ void __launch_bounds__(threads)
    add_weights_of_parts(const Columns records, std::uint32_t count, const std::uint32_t* weights,
                         const IntegerPosition* begin, std::uint32_t parts, unsigned long long* sums) {
  extern __shared__ unsigned long long of_block[];
  unsigned long long* const to = in_shared ? of_block : sums;
  if (in_shared) {
    for (std::uint32_t part = threadIdx.x; part < parts; part += threads) of_block[part] = 0;
    __syncthreads();
  }
  for (std::uint64_t first = blockIdx.x * threads; first < count;
       first += std::uint64_t{gridDim.x} * threads) {
    // Behind the end the last record comes again, of no weight.
    const std::uint64_t own = first + threadIdx.x, i = min(own, std::uint64_t{count} - 1);
    const IntegerPosition place{records.at[0][i], records.at[1][i], records.at[2][i]};
    const unsigned long long weight = own >= count ? 0 : weights ? weights[records.at[3][i]] : 1;
    const auto part = static_cast<std::uint32_t>(part_of(begin, parts, place));
    int all_alike = 0;
    __match_all_sync(~0u, part, &all_alike);
    if (!all_alike) {
      atomicAdd(&to[part], weight);
      continue;
    }
    const unsigned long long sum = warp_sum(weight);
    if (lane_index() == 0) atomicAdd(&to[part], sum);
  }
  if (!in_shared) return;
  __syncthreads();
  for (std::uint32_t part = threadIdx.x; part < parts; part += threads)
    if (of_block[part] > 0) atomicAdd(&sums[part], of_block[part]);
}

__global__ void __launch_bounds__(threads)
    gather_records(const Columns from, const std::uint32_t* order, std::uint32_t count, const Columns to) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t place = order[i];
#pragma unroll
  for (int column = 0; column < 4; ++column) to.at[column][i] = from.at[column][place];
}

/// begin[k]: the first of the sorted numbers that is k or more, for k up to `numbers`.
__global__ void __launch_bounds__(threads)
    find_beginnings(const std::uint32_t* sorted, std::uint32_t count, std::uint32_t numbers, Count* begin) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i > count) return;
  const std::uint32_t from = i == 0 ? 0 : sorted[i - 1] + 1, to = i == count ? numbers : sorted[i];
  for (std::uint32_t k = from; k <= to; ++k) begin[k] = i;
}

}  // namespace

std::vector<Count> sort_by_part(DeviceRecords& records, DeviceRecords& spare,
                                std::span<const IntegerPosition> begin, std::span<const std::uint32_t> number,
                                std::uint32_t numbers) {
  const auto count = static_cast<std::uint32_t>(records.size());
  const DeviceArray<IntegerPosition> device_begin(begin);
  const DeviceArray<std::uint32_t> device_number(number), order(count);
  cub::DoubleBuffer found(spare.columns[0].data(), spare.columns[1].data()),
      places(spare.columns[2].data(), order.data());
  if (count > 0) {
    find_parts<<<blocks_for(count), threads>>>(columns_of(records), count, device_begin.data(),
                                               device_number.data(), begin.size(), found.Current(),
                                               places.Current());
    launched("Grove::cuda::find_parts", 20 * std::uint64_t{count});
    const int bits = std::max<int>(std::bit_width(numbers - 1), 1);
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch) {
      GROVE_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, found, places, count, 0, bits));
    };
    sort(nullptr);
    const DeviceArray<std::byte> scratch(bytes);
    sort(scratch.data());
    launched("Grove::cuda::sort_by_part", 16 * std::uint64_t{count});
  }
  const DeviceArray<Count> device_beginnings(numbers + 1);
  find_beginnings<<<blocks_for(std::uint64_t{count} + 1), threads>>>(found.Current(), count, numbers,
                                                                     device_beginnings.data());
  launched("Grove::cuda::find_beginnings", 4 * std::uint64_t{count});
  if (count > 0) {
    if (places.Current() != order.data())
      device_copy(order.data(), places.Current(), count * sizeof(std::uint32_t));
    gather_records<<<blocks_for(count), threads>>>(columns_of(records), order.data(), count,
                                                   columns_of(spare));
    launched("Grove::cuda::gather_records", 36 * std::uint64_t{count});
    std::swap(records, spare);
  }
  std::vector<Count> beginnings(numbers + 1);
  device_beginnings.download(beginnings);
  return beginnings;
}

std::vector<Count> weigh_parts(const DeviceRecords& records, const std::uint32_t* weights,
                               std::span<const IntegerPosition> begin) {
  constexpr std::size_t most_shared = 48 << 10;  // that any kernel may have
  constexpr unsigned most_blocks = 1024;         // each adds to all parts
  const auto count = static_cast<std::uint32_t>(records.size());
  const auto parts = static_cast<std::uint32_t>(begin.size());
  const DeviceArray<IntegerPosition> device_begin(begin);
  DeviceArray<unsigned long long> sums(parts);
  sums.clear();
  if (count > 0) {
    const std::size_t shared = parts * sizeof(unsigned long long);
    const unsigned blocks = std::min(blocks_for(count), most_blocks);
    const auto add = shared <= most_shared ? add_weights_of_parts<true> : add_weights_of_parts<false>;
    add<<<blocks, threads, shared <= most_shared ? shared : 0>>>(columns_of(records), count, weights,
                                                                 device_begin.data(), parts, sums.data());
    launched("Grove::cuda::add_weights_of_parts", 16 * std::uint64_t{count});
  }
  std::vector<Count> result(parts);
  device_download(result.data(), sums.data(), parts * sizeof(Count));
  return result;
}

}  // namespace grove::cuda
