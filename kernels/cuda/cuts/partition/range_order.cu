#include "kernels/cuda/cuts/partition/range_order.hpp"

#include <stdexcept>
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

struct ListedColumns {
  std::uint32_t *x, *y, *z, *index;
};

__global__ void __launch_bounds__(threads)
    make_listed(const Box box, const Vec3d* position, const std::uint32_t* numbers, std::size_t count,
                const ListedColumns records) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t number = numbers[i];
  const IntegerPosition c = box.coordinates(position[number]);
  records.x[i] = c.x;
  records.y[i] = c.y;
  records.z[i] = c.z;
  records.index[i] = number;
}

/// Columns, and where each one's elements wait meanwhile.
struct ColumnList {
  static constexpr int most = 16;
  FieldColumn columns[most];
  std::byte* waiting[most];
};

template <class Word>
__device__ void copy_words(void* to, const void* from, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes / sizeof(Word); ++k)
    static_cast<Word*>(to)[k] = static_cast<const Word*>(from)[k];
}

__device__ void copy_element(void* to, const void* from, std::size_t bytes) {
  if (bytes % 8 == 0)
    copy_words<std::uint64_t>(to, from, bytes);
  else if (bytes % 4 == 0)
    copy_words<std::uint32_t>(to, from, bytes);
  else
    copy_words<std::uint8_t>(to, from, bytes);
}

/// Blocks along y have a column each.
__global__ void __launch_bounds__(threads)
    take(const ColumnList list, const std::uint32_t* order, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  const FieldColumn& column = list.columns[blockIdx.y];
  const std::size_t from = order[i], size = column.element_size;
  const void* const element = from < column.size
                                  ? static_cast<const std::byte*>(column.values) + from * size
                                  : static_cast<const std::byte*>(column.rest) + (from - column.size) * size;
  copy_element(list.waiting[blockIdx.y] + i * size, element, size);
}

__global__ void __launch_bounds__(threads)
    put(const ColumnList list, const std::uint32_t* numbers, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  const FieldColumn& column = list.columns[blockIdx.y];
  const std::size_t size = column.element_size;
  copy_element(static_cast<std::byte*>(column.values) + numbers[i] * size,
               list.waiting[blockIdx.y] + i * size, size);
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

void make_records_of(const Box& box, const Vec3d* position, const std::uint32_t* numbers, std::size_t count,
                     const DeviceRecords& records) {
  if (count == 0) return;
  const auto& c = records.columns;
  make_listed<<<blocks_for(count), threads, 0, stream()>>>(
      box, position, numbers, count, ListedColumns{c[0].data(), c[1].data(), c[2].data(), c[3].data()});
  launched("Grove::cuda::make_records_of");
}

void reorder_listed(std::span<const FieldColumn> columns, const std::uint32_t* numbers,
                    const std::uint32_t* order, std::size_t count) {
  if (count == 0 || columns.empty()) return;
  if (columns.size() > ColumnList::most)
    throw std::logic_error("reorder_listed: more columns than it has room for");
  constexpr std::size_t alignment = 16;
  const auto room = [&](std::size_t element) {
    return (count * element + alignment - 1) / alignment * alignment;
  };
  std::size_t bytes = 0;
  for (const FieldColumn& column : columns) bytes += room(column.element_size);
  const DeviceArray<std::byte> waiting(bytes);
  ColumnList list{};
  std::byte* next = waiting.data();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    list.columns[c] = columns[c];
    list.waiting[c] = next;
    next += room(columns[c].element_size);
  }
  const dim3 blocks(blocks_for(count), static_cast<unsigned>(columns.size()));
  take<<<blocks, threads, 0, stream()>>>(list, order, count);
  put<<<blocks, threads, 0, stream()>>>(list, numbers, count);
  launched("Grove::cuda::reorder_listed", 0, 2);
}

}  // namespace grove::cuda
