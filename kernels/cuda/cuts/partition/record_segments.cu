#include "kernels/cuda/cuts/partition/record_segments.hpp"

#include <cub/block/block_reduce.cuh>
#include <vector>

#include "kernels/cuda/cuts/partition/key_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

/// The records of a segment that a block works on.
struct RecordsOfTile {
  std::uint64_t begin, end;

  __device__ RecordsOfTile(const Tile& tile, const Segment& segment, std::uint64_t tile_size)
      : begin(segment.first + tile.number * tile_size),
        end(min(begin + tile_size, segment.first + segment.count)) {}
};

/// Widens the bounds of a segment by those of some of its records. By a block.
__device__ void add_bounds(const Columns& columns, const RecordsOfTile& records, CellBounds& bounds) {
  __shared__ Coordinate of_block[2][3];
  if (threadIdx.x < 3) of_block[0][threadIdx.x] = ~0u, of_block[1][threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    Coordinate low = ~0u, high = 0;
    for_each_key(columns.at[axis], records.begin, records.end, {threadIdx.x, threads},
                 [&](Coordinate c, std::uint64_t) {
                   low = min(low, c);
                   high = max(high, c);
                 });
    low = __reduce_min_sync(~0u, low);
    high = __reduce_max_sync(~0u, high);
    if (threadIdx.x % 32 == 0) atomicMin(&of_block[0][axis], low), atomicMax(&of_block[1][axis], high);
  }
  __syncthreads();
  if (threadIdx.x >= 3) return;
  const auto axis = static_cast<int>(threadIdx.x);
  atomicMin(&bounds.low[axis], of_block[0][axis]);
  atomicMax(&bounds.high[axis], of_block[1][axis]);
}

/// Adds the weights of some records of a segment. By a block.
__device__ void add_weight(const std::uint32_t* index, const std::uint32_t* weights,
                           const RecordsOfTile& records, unsigned long long* weight) {
  using Reduce = cub::BlockReduce<unsigned long long, threads>;
  __shared__ typename Reduce::TempStorage storage;
  unsigned long long sum = 0;
  for (std::uint64_t i = records.begin + threadIdx.x; i < records.end; i += threads) sum += weights[index[i]];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(weight, sum);
}

__global__ void __launch_bounds__(threads)
    segment_bounds(const Columns columns, const Segment* segments, const Tile* tiles, std::uint64_t tile_size,
                   CellBounds* bounds) {
  const Tile tile = tiles[blockIdx.x];
  add_bounds(columns, {tile, segments[tile.task], tile_size}, bounds[tile.task]);
}

__global__ void __launch_bounds__(threads)
    add_weights(const std::uint32_t* index, const std::uint32_t* weights, const Segment* segments,
                const Tile* tiles, std::uint64_t tile_size, unsigned long long* sums) {
  const Tile tile = tiles[blockIdx.x];
  add_weight(index, weights, {tile, segments[tile.task], tile_size}, &sums[tile.task]);
}

/// Bounds and weights; weights: null if they are not wanted.
__global__ void __launch_bounds__(threads)
    begin_contents(const Columns columns, const std::uint32_t* weights, const Segment* segments,
                   const Tile* tiles, std::uint64_t tile_size, SegmentContent* contents) {
  const Tile tile = tiles[blockIdx.x];
  const RecordsOfTile records(tile, segments[tile.task], tile_size);
  SegmentContent& content = contents[tile.task];
  add_bounds(columns, records, content.bounds);
  if (weights)
    add_weight(columns.at[3], weights, records, reinterpret_cast<unsigned long long*>(&content.weight));
}

/// The first ids, where bounds are known.
__global__ void __launch_bounds__(threads)
    finish_contents(const Columns columns, const ParticleId* ids, const Segment* segments, const Tile* tiles,
                    std::uint64_t tile_size, SegmentContent* contents) {
  const Tile tile = tiles[blockIdx.x];
  const RecordsOfTile records(tile, segments[tile.task], tile_size);
  SegmentContent& content = contents[tile.task];
  const IntegerPosition least = content.bounds.low;
  for (std::uint64_t i = records.begin + threadIdx.x; i < records.end; i += threads)
    for (int axis = 0; axis < 3; ++axis)
      if (columns.at[axis][i] == least[axis])
        atomicMin(reinterpret_cast<unsigned long long*>(&content.first[axis]),
                  static_cast<unsigned long long>(ids[columns.at[3][i]]));
}

__global__ void __launch_bounds__(threads)
    copy(const Columns from, const Columns to, const SegmentCopy* copies, const Tile* tiles,
         std::uint64_t tile_size) {
  const Tile tile = tiles[blockIdx.x];
  const SegmentCopy segment = copies[tile.task];
  const std::uint64_t begin = tile.number * tile_size, end = min(begin + tile_size, segment.count);
#pragma unroll
  for (int c = 0; c < 4; ++c)
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads)
      to.at[c][segment.to + i] = from.at[c][segment.from + i];
}

/// So few that a segment or two keep all processors busy.
constexpr std::uint64_t records_of_tile = 1u << 12;

}  // namespace

void find_bounds(const DeviceRecords& records, std::span<const Segment> segments,
                 std::span<CellBounds> bounds) {
  const Tiles tiles(records_of_tile, segments);
  const std::vector<CellBounds> nothing(segments.size(), CellBounds::of_nothing());
  const DeviceArray<Segment> on_device(segments);
  const DeviceArray<CellBounds> found{std::span(nothing)};
  if (tiles.size() > 0) {
    segment_bounds<<<tiles.size(), threads>>>(columns_of(records), on_device.data(), tiles.data(),
                                              tiles.tile_size(), found.data());
    launched("Grove::cuda::segment_bounds", 12 * tiles.records());
  }
  found.download(bounds);
}

void sum_weights(const DeviceRecords& records, const std::uint32_t* weights,
                 std::span<const Segment> segments, std::span<Count> weight) {
  const Tiles tiles(records_of_tile, segments);
  const DeviceArray<Segment> on_device(segments);
  DeviceArray<unsigned long long> sums(segments.size());
  sums.clear();
  if (tiles.size() > 0) {
    add_weights<<<tiles.size(), threads>>>(records.columns[3].data(), weights, on_device.data(), tiles.data(),
                                           tiles.tile_size(), sums.data());
    launched("Grove::cuda::add_weights", 8 * tiles.records());
  }
  device_download(weight.data(), sums.data(), weight.size_bytes());
}

std::vector<SegmentContent> describe_segments(const DeviceRecords& records, const ParticleId* ids,
                                              const std::uint32_t* weights,
                                              std::span<const Segment> segments) {
  const Tiles tiles(records_of_tile, segments);
  constexpr ParticleId none = ~ParticleId{0};
  std::vector<SegmentContent> contents(segments.size(), {CellBounds::of_nothing(), {none, none, none}, 0});
  if (tiles.size() == 0) return contents;
  const DeviceArray<Segment> on_device(segments);
  const DeviceArray<SegmentContent> found{std::span<const SegmentContent>(contents)};
  begin_contents<<<tiles.size(), threads>>>(columns_of(records), weights, on_device.data(), tiles.data(),
                                            tiles.tile_size(), found.data());
  finish_contents<<<tiles.size(), threads>>>(columns_of(records), ids, on_device.data(), tiles.data(),
                                             tiles.tile_size(), found.data());
  launched("Grove::cuda::describe_segments", (weights ? 32 : 24) * tiles.records(), 2);
  found.download(contents);
  return contents;
}

void copy_segments(const DeviceRecords& from, const DeviceRecords& to, std::span<const SegmentCopy> copies) {
  const Tiles tiles(records_of_tile, copies);
  if (tiles.size() == 0) return;
  const DeviceArray<SegmentCopy> on_device(copies);
  copy<<<tiles.size(), threads>>>(columns_of(from), columns_of(to), on_device.data(), tiles.data(),
                                  tiles.tile_size());
  launched("Grove::cuda::copy_segments", 32 * tiles.records());
}

}  // namespace grove::cuda
