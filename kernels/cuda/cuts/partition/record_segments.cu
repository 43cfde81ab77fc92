#include "kernels/cuda/cuts/partition/record_segments.hpp"

#include <utility>
#include <vector>

#include "kernels/cuda/cuts/partition/block_records.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

/// Those of a tile.
__device__ BlockRecords records_of(const Tile& tile, const Segment& segment, std::uint64_t tile_size) {
  const std::uint64_t begin = segment.first + tile.number * tile_size;
  return {begin, min(begin + tile_size, segment.first + segment.count)};
}

__global__ void __launch_bounds__(threads)
    segment_bounds(const Columns columns, const Segment* segments, const Tile* tiles, std::uint64_t tile_size,
                   CellBounds* bounds) {
  const Tile tile = tiles[blockIdx.x];
  add_bounds(columns, records_of(tile, segments[tile.task], tile_size), bounds[tile.task]);
}

__global__ void __launch_bounds__(threads)
    add_weights(const std::uint32_t* index, const std::uint32_t* weights, const Segment* segments,
                const Tile* tiles, std::uint64_t tile_size, unsigned long long* sums) {
  const Tile tile = tiles[blockIdx.x];
  add_weight(index, weights, records_of(tile, segments[tile.task], tile_size), &sums[tile.task]);
}

/// Copies the first `columns` columns.
template <int columns>
__global__ void __launch_bounds__(threads)
    copy(const Columns from, const Columns to, const SegmentCopy* copies, const Tile* tiles,
         std::uint64_t tile_size) {
  const Tile tile = tiles[blockIdx.x];
  const SegmentCopy segment = copies[tile.task];
  const std::uint64_t begin = tile.number * tile_size, end = min(begin + tile_size, segment.count);
#pragma unroll
  for (int c = 0; c < columns; ++c)
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads)
      to.at[c][segment.to + i] = from.at[c][segment.from + i];
}

/// So few that a segment or two keep all processors busy.
constexpr std::uint64_t records_of_tile = 1u << 12;

/// Copies of segments, as often as wanted.
class Copies {
 public:
  explicit Copies(std::span<const SegmentCopy> copies) : tiles_(records_of_tile, copies), copies_(copies) {}

  template <int columns>
  void make(const Columns& from, const Columns& to) const {
    if (tiles_.size() == 0) return;
    copy<columns><<<tiles_.size(), threads>>>(from, to, copies_.data(), tiles_.data(), tiles_.tile_size());
    launched("Grove::cuda::copy_segments", 8 * columns * tiles_.records());
  }

 private:
  Tiles tiles_;
  DeviceArray<SegmentCopy> copies_;
};

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

void copy_segments(const DeviceRecords& from, const DeviceRecords& to, std::span<const SegmentCopy> copies) {
  Copies(copies).make<4>(columns_of(from), columns_of(to));
}

DeviceRecords merge_segments(DeviceRecords first, std::span<const SegmentCopy> of_first, DeviceRecords second,
                             std::span<const SegmentCopy> of_second, std::size_t count) {
  const Copies from_first(of_first), from_second(of_second);
  DeviceRecords merged;
  for (std::size_t c = 0; c < merged.columns.size(); ++c) {
    DeviceArray<std::uint32_t>& to = merged.columns[c];
    to = DeviceArray<std::uint32_t>(count);
    const auto one = [](const DeviceArray<std::uint32_t>& column) { return Columns{{column.data()}}; };
    from_first.make<1>(one(first.columns[c]), one(to));
    from_second.make<1>(one(second.columns[c]), one(to));
    first.columns[c] = {};
    second.columns[c] = {};
  }
  return merged;
}

}  // namespace grove::cuda
