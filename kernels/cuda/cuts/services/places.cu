#include "kernels/cuda/cuts/services/places.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "kernels/cuda/cuts/partition/block_records.cuh"
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

/// Records of a warp; as they come in the order of a tree, most of these lie in few parts, one after the
/// other.
constexpr std::uint32_t records_of_warp = 32 * 32;

/// A warp sums the work of the part that it is in, class by class: lane c has that of class c, the next one
/// the particles. sums (out): by part.
__global__ void __launch_bounds__(threads)
    add_work_of_parts(const Columns records, std::uint32_t count, const std::uint32_t* weights,
                      const std::uint8_t* rungs, int deepest, const IntegerPosition* begin,
                      std::uint32_t parts, PartWork* sums) {
  const auto add = [](Count& to, Count amount) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(amount));
  };
  const int lane = lane_index();
  const std::uint64_t first =
      (std::uint64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32) * records_of_warp;
  const std::uint64_t end = min(first + records_of_warp, std::uint64_t{count});
  std::uint32_t current = 0;
  Count own_sum = 0;
  const auto flush = [&] {
    if (own_sum > 0)
      add(lane < PartWork::classes ? sums[current].work[lane] : sums[current].particles, own_sum);
    own_sum = 0;
  };
  for (std::uint64_t of_warp = first; of_warp < end; of_warp += 32) {
    // Behind the end the last record comes again, of no weight.
    const std::uint64_t own = of_warp + lane, i = min(own, std::uint64_t{count} - 1);
    const bool is_one = own < end;
    const IntegerPosition place{records.at[0][i], records.at[1][i], records.at[2][i]};
    const std::uint32_t index = records.at[3][i];
    const Count weight = !is_one ? 0 : weights ? weights[index] : 1;
    const int own_class = PartWork::class_of(rungs ? rungs[index] : 0, deepest);
    const auto part = static_cast<std::uint32_t>(part_of(begin, parts, place));
    int all_alike = 0;
    __match_all_sync(~0u, part, &all_alike);
    if (!all_alike) {
      if (!is_one) continue;
      add(sums[part].particles, 1);
      add(sums[part].work[own_class], weight);
      continue;
    }
    if (part != current) flush();
    current = part;
    if (lane == PartWork::classes) own_sum += min(end - of_warp, std::uint64_t{32});
    for (int c = 0; c < PartWork::classes; ++c) {
      if (!__any_sync(~0u, own_class == c)) continue;
      const Count sum = warp_sum(own_class == c ? weight : Count{0});
      if (lane == c) own_sum += sum;
    }
  }
  flush();
}

/// found (in/out): how many there are; samples (out): the first `room` of them.
__global__ void __launch_bounds__(threads)
    take_samples(const Columns records, std::uint32_t count, const ParticleId* ids, const std::uint8_t* rungs,
                 const __grid_constant__ SampleRates rates, int deepest, PlaceSample* samples,
                 std::uint32_t room, std::uint32_t* found) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t index = records.at[3][i];
  const int work_class = PartWork::class_of(rungs ? rungs[index] : 0, deepest);
  if (!rates.takes(ids[index], work_class)) return;
  const std::uint32_t place = atomicAdd(found, 1);
  if (place < room) samples[place] = {records.at[0][i], records.at[1][i], records.at[2][i], work_class};
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

__global__ void __launch_bounds__(threads)
    add_begins(const PartBegins first, const Count* second, Count* sums) {
  const std::uint32_t k = blockIdx.x * threads + threadIdx.x;
  if (k <= first.parts) sums[k] = first.begin[k] + second[k];
}

/// The part that holds an element; of empty ones that begin there the last.
__device__ std::uint32_t part_at(const Count* begin, std::uint32_t parts, Count element) {
  std::uint32_t first = 0;
  while (parts > 1) {
    const std::uint32_t half = parts / 2;
    if (begin[first + half] <= element) first += half;
    parts -= half;
  }
  return first;
}

/// A thread for each of the joined.
__global__ void __launch_bounds__(threads)
    join_records(const Columns of_first, const Columns of_second, const PartBegins first,
                 const Count* second_begin, const Count* joined_begin, std::uint32_t count,
                 const Columns joined) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t part = part_at(joined_begin, first.parts, i);
  const Count in_part = i - joined_begin[part], of_first_set = first.begin[part + 1] - first.begin[part];
  const bool is_first = in_part < of_first_set;
  const Count from = is_first ? first.begin[part] + in_part : second_begin[part] + (in_part - of_first_set);
#pragma unroll
  for (int c = 0; c < 4; ++c) joined.at[c][i] = is_first ? of_first.at[c][from] : of_second.at[c][from];
}

/// So few that a part or two keep all processors busy.
constexpr std::uint32_t records_of_block = 1u << 12;

/// Calls visit(part, first record, end) for each part that has some of a block's records, in all threads.
template <class Visit>
__device__ void for_each_part_of_block(const PartBegins& parts, std::uint32_t count, const Visit& visit) {
  Count first = Count{blockIdx.x} * records_of_block;
  const Count end = min(first + records_of_block, min(Count{count}, parts.begin[parts.parts]));
  if (first >= end) return;
  for (std::uint32_t part = part_at(parts.begin, parts.parts, first); first < end; ++part) {
    const Count stop = min(end, parts.begin[part + 1]);
    if (stop > first) visit(part, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(stop));
    first = stop;
  }
}

/// weights: null if they are not wanted.
__global__ void __launch_bounds__(threads)
    find_bounds_and_weights(const Columns records, std::uint32_t count, const std::uint32_t* weights,
                            const PartBegins parts, PartContent* contents) {
  for_each_part_of_block(parts, count, [&](std::uint32_t part, std::uint64_t first, std::uint64_t end) {
    PartContent& content = contents[part];
    add_bounds(records, {first, end}, content.bounds);
    if (weights)
      add_weight(records.at[3], weights, {first, end},
                 reinterpret_cast<unsigned long long*>(&content.weight));
  });
}

/// Comes after find_bounds_and_weights().
__global__ void __launch_bounds__(threads)
    find_first_ids(const Columns records, std::uint32_t count, const ParticleId* ids, const PartBegins parts,
                   PartContent* contents) {
  for_each_part_of_block(parts, count, [&](std::uint32_t part, std::uint64_t first, std::uint64_t end) {
    PartContent& content = contents[part];
    const IntegerPosition least = content.bounds.low;
    for (std::uint64_t i = first + threadIdx.x; i < end; i += threads)
      for (int axis = 0; axis < 3; ++axis)
        if (records.at[axis][i] == least[axis])
          atomicMin(reinterpret_cast<unsigned long long*>(&content.first[axis]),
                    static_cast<unsigned long long>(ids[records.at[3][i]]));
  });
}

}  // namespace

DeviceArray<Count> sort_by_part(DeviceRecords& records, DeviceRecords& spare,
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
  DeviceArray<Count> beginnings(numbers + 1);
  find_beginnings<<<blocks_for(std::uint64_t{count} + 1), threads>>>(found.Current(), count, numbers,
                                                                     beginnings.data());
  launched("Grove::cuda::find_beginnings", 4 * std::uint64_t{count});
  if (count > 0) {
    if (places.Current() != order.data())
      device_copy(order.data(), places.Current(), count * sizeof(std::uint32_t));
    gather_records<<<blocks_for(count), threads>>>(columns_of(records), order.data(), count,
                                                   columns_of(spare));
    launched("Grove::cuda::gather_records", 36 * std::uint64_t{count});
    std::swap(records, spare);
  }
  return beginnings;
}

DeviceArray<Count> join_parts(const DeviceRecords& of_first, const PartBegins& first,
                              const DeviceRecords& of_second, const Count* second_begin,
                              const DeviceRecords& joined) {
  DeviceArray<Count> begin(first.parts + 1);
  add_begins<<<blocks_for(begin.size()), threads>>>(first, second_begin, begin.data());
  launched("Grove::cuda::add_begins");
  const auto count = static_cast<std::uint32_t>(joined.size());
  if (count == 0) return begin;
  join_records<<<blocks_for(count), threads>>>(columns_of(of_first), columns_of(of_second), first,
                                               second_begin, begin.data(), count, columns_of(joined));
  launched("Grove::cuda::join_records", 32 * std::uint64_t{count});
  return begin;
}

DescribedParts describe_parts(const DeviceRecords& records, const ParticleId* ids,
                              const std::uint32_t* weights, const PartBegins& parts) {
  constexpr ParticleId none = ~ParticleId{0};
  DescribedParts result{std::vector<Count>(parts.parts + 1),
                        {parts.parts, {CellBounds::of_nothing(), {none, none, none}, 0}}};
  const DeviceArray<PartContent> contents{std::span<const PartContent>(result.contents)};
  const auto count = static_cast<std::uint32_t>(records.size());
  if (count > 0 && parts.parts > 0) {
    const unsigned blocks = blocks_for(count, records_of_block);
    find_bounds_and_weights<<<blocks, threads>>>(columns_of(records), count, weights, parts, contents.data());
    find_first_ids<<<blocks, threads>>>(columns_of(records), count, ids, parts, contents.data());
    launched("Grove::cuda::describe_parts", (weights ? 32 : 24) * std::uint64_t{count}, 2);
  }
  device_download(
      std::array<Download, 2>{{{result.begin.data(), parts.begin, result.begin.size() * sizeof(Count)},
                               contents.download_to(result.contents)}});
  return result;
}

std::vector<PlaceSample> sample_records(const DeviceRecords& records, const ParticleId* ids,
                                        const std::uint8_t* rungs, const SampleRates& rates, int deepest) {
  const auto count = static_cast<std::uint32_t>(records.size());
  if (count == 0) return {};
  for (std::uint32_t room = 4096;;) {
    const DeviceArray<PlaceSample> samples(room);
    DeviceArray<std::uint32_t> number(1);
    number.clear();
    take_samples<<<blocks_for(count), threads>>>(columns_of(records), count, ids, rungs, rates, deepest,
                                                 samples.data(), room, number.data());
    launched("Grove::cuda::take_samples", 13 * std::uint64_t{count});
    std::vector<PlaceSample> found(room);
    std::uint32_t in_all = 0;
    device_download(std::array{samples.download_to(found), number.download_to(std::span(&in_all, 1))});
    found.resize(std::min(in_all, room));
    if (in_all <= room) return found;
    room = in_all;
  }
}

std::vector<PartWork> weigh_parts(const DeviceRecords& records, const std::uint32_t* weights,
                                  const std::uint8_t* rungs, std::span<const IntegerPosition> begin,
                                  int deepest) {
  const auto count = static_cast<std::uint32_t>(records.size());
  const DeviceArray<IntegerPosition> device_begin(begin);
  DeviceArray<PartWork> sums(begin.size());
  sums.clear();
  if (count > 0) {
    const unsigned blocks = blocks_for(std::uint64_t{32} * ((count - 1) / records_of_warp + 1));
    add_work_of_parts<<<blocks, threads>>>(columns_of(records), count, weights, rungs, deepest,
                                           device_begin.data(), static_cast<std::uint32_t>(begin.size()),
                                           sums.data());
    launched("Grove::cuda::add_work_of_parts", 21 * std::uint64_t{count});
  }
  std::vector<PartWork> result(begin.size());
  sums.download(result);
  return result;
}

}  // namespace grove::cuda
