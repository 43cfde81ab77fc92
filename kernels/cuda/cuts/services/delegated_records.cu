#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/cuts/services/delegated_records.cuh"
#include "kernels/cuda/cuts/services/delegated_records.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/cell_walk.hpp"

namespace grove::cuda {
namespace {

/// A cell for those that descend.
struct Step {
  ParticleId id;
  Coordinate coordinate;
  std::int32_t axis;  ///< -1: a leaf
  std::int32_t next;  ///< the left child, or the number of the leaf
};

/// The records of a tile, from `begin` to `end` in its segment.
struct DelegatedPiece {
  DelegatedSegment segment;
  std::uint64_t begin, end;

  __device__ DelegatedPiece(const DelegatedSegment* segments, const Tile& tile, std::uint64_t tile_size)
      : segment(segments[tile.task]),
        begin(tile.number * tile_size),
        end(min(begin + tile_size, segment.count)) {}
};

__device__ Columns chosen(const Columns& first, const Columns& second, int set) {
  Columns columns;
#pragma unroll
  for (int c = 0; c < 4; ++c) columns.at[c] = set == 0 ? first.at[c] : second.at[c];
  return columns;
}

__global__ void __launch_bounds__(threads)
    pack(const Columns columns0, const Columns columns1, const DelegatedSegment* segments, const Tile* tiles,
         std::uint64_t tile_size, const ParticleId* ids, const std::uint32_t* weights, DelegatedRecord* to) {
  const DelegatedPiece piece(segments, tiles[blockIdx.x], tile_size);
  const Columns from = chosen(columns0, columns1, piece.segment.set);
  for (std::uint64_t i = piece.begin + threadIdx.x; i < piece.end; i += threads) {
    const std::uint64_t at = piece.segment.first + i;
    const std::uint32_t index = from.at[3][at];
    DelegatedRecord& record = to[piece.segment.place + i];
    record.id = id_of(ids, index);
    record.position = {from.at[0][at], from.at[1][at], from.at[2][at]};
    record.weight = weights ? weights[index] : 1;
  }
}

__global__ void __launch_bounds__(threads) unpack(const DelegatedRecord* delegated, std::size_t count,
                                                  const Columns to, ParticleId* ids, std::uint32_t* weights) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= count) return;
  const DelegatedRecord record = delegated[i];
  to.at[0][i] = record.position.x;
  to.at[1][i] = record.position.y;
  to.at[2][i] = record.position.z;
  to.at[3][i] = static_cast<std::uint32_t>(i);
  ids[i] = record.id;
  if (weights) weights[i] = record.weight;
}

/// Writes the leaf of each record and where the record is.
__global__ void __launch_bounds__(threads)
    find_leaves(const Columns columns0, const Columns columns1, const DelegatedSegment* segments,
                const Tile* tiles, std::uint64_t tile_size, const ParticleId* ids, const Step* steps,
                std::uint32_t* leaf, std::uint32_t* source) {
  const DelegatedPiece piece(segments, tiles[blockIdx.x], tile_size);
  const Columns from = chosen(columns0, columns1, piece.segment.set);
  for (std::uint64_t i = piece.begin + threadIdx.x; i < piece.end; i += threads) {
    const std::uint64_t at = piece.segment.first + i;
    const Coordinate x = from.at[0][at], y = from.at[1][at], z = from.at[2][at];
    Step step = steps[piece.segment.cell];
    while (step.axis >= 0) {
      const Coordinate c = step.axis == 0 ? x : step.axis == 1 ? y : z;
      bool is_left = c < step.coordinate;
      if (c == step.coordinate) is_left = id_of(ids, from.at[3][at]) < step.id;
      step = steps[step.next + (is_left ? 0 : 1)];
    }
    leaf[piece.segment.place + i] = static_cast<std::uint32_t>(step.next);
    source[piece.segment.place + i] = static_cast<std::uint32_t>(at);
  }
}

/// Copies each record from where it is to its place in the other set.
__global__ void __launch_bounds__(threads)
    bring(const Columns columns0, const Columns columns1, const DelegatedSegment* segments, const Tile* tiles,
          std::uint64_t tile_size, const std::uint32_t* source) {
  const DelegatedPiece piece(segments, tiles[blockIdx.x], tile_size);
  const Columns from = chosen(columns0, columns1, piece.segment.set);
  const Columns to = chosen(columns0, columns1, 1 - piece.segment.set);
  for (std::uint64_t i = piece.begin + threadIdx.x; i < piece.end; i += threads) {
    const std::uint32_t at = source[piece.segment.place + i];
#pragma unroll
    for (int c = 0; c < 4; ++c) to.at[c][piece.segment.first + i] = from.at[c][at];
  }
}

/// How many of the sorted leaves are less than each wanted one.
__global__ void count_before(const std::uint32_t* sorted, std::uint32_t count, const std::uint32_t* wanted,
                             std::uint32_t number, std::uint32_t* before) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= number) return;
  std::uint32_t low = 0, high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (sorted[middle] < wanted[i])
      low = middle + 1;
    else
      high = middle;
  }
  before[i] = low;
}

constexpr std::uint64_t delegated_of_tile = 1u << 12;

/// Cells without children are numbered from left to right.
std::vector<Step> steps_of(std::span<const Cell> cells) {
  std::vector<Step> steps;
  steps.reserve(cells.size());
  for (const Cell& c : cells)
    steps.push_back({c.cut.id, c.cut.coordinate, c.is_leaf() ? -1 : c.cut.axis, c.child});
  std::int32_t number = 0;
  for_each_leaf(cells, 0, [&](std::int32_t cell, const Cell&) {
    steps[static_cast<std::size_t>(cell)].next = number++;
  });
  return steps;
}

/// Sorts pairs by a key of so many bits; the sorted ones come into the second arrays.
void sort_pairs(const DeviceArray<std::uint32_t> (&key)[2], const DeviceArray<std::uint32_t> (&value)[2],
                int bits) {
  const auto count = static_cast<std::int64_t>(key[0].size());
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key[0].data(), key[1].data(), value[0].data(),
                                             value[1].data(), count, 0, bits));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, key[0].data(), key[1].data(),
                                             value[0].data(), value[1].data(), count, 0, bits));
  launched("Grove::cuda::sort_by_leaf", 32 * key[0].size(), kernels_of_sort(bits));
}

}  // namespace

void pack_delegated(const Columns (&columns)[2], std::span<const DelegatedSegment> segments,
                    const ParticleId* ids, const std::uint32_t* weights, DelegatedRecord* to) {
  const Tiles tiles(delegated_of_tile, segments);
  if (tiles.size() == 0) return;
  const DeviceArray<DelegatedSegment> on_device(segments);
  pack<<<tiles.size(), threads>>>(columns[0], columns[1], on_device.data(), tiles.data(), tiles.tile_size(),
                                  ids, weights, to);
  launched("Grove::cuda::pack_delegated", (24 + sizeof(DelegatedRecord)) * tiles.records());
}

void unpack_delegated(const DelegatedRecord* delegated, std::size_t count, const DeviceRecords& records,
                      ParticleId* ids, std::uint32_t* weights) {
  if (count == 0) return;
  unpack<<<blocks_for(count), threads>>>(delegated, count, columns_of(records), ids, weights);
  launched("Grove::cuda::unpack_delegated", (24 + sizeof(DelegatedRecord)) * count);
}

std::vector<std::uint32_t> sort_by_leaf(const Columns (&columns)[2],
                                        std::span<const DelegatedSegment> segments, const ParticleId* ids,
                                        std::span<const Cell> cells, std::span<const std::int32_t> leaves) {
  std::vector<std::uint32_t> before(leaves.size(), 0), wanted;
  const Tiles tiles(delegated_of_tile, segments);
  if (tiles.size() == 0) return before;
  const std::vector<Step> steps = steps_of(cells);
  const DeviceArray<Step> device_steps{std::span(steps)};
  const DeviceArray<DelegatedSegment> device_segments(segments);
  const std::uint64_t count = tiles.records();
  const DeviceArray<std::uint32_t> leaf[2] = {DeviceArray<std::uint32_t>(count),
                                              DeviceArray<std::uint32_t>(count)};
  const DeviceArray<std::uint32_t> source[2] = {DeviceArray<std::uint32_t>(count),
                                                DeviceArray<std::uint32_t>(count)};
  find_leaves<<<tiles.size(), threads>>>(columns[0], columns[1], device_segments.data(), tiles.data(),
                                         tiles.tile_size(), ids, device_steps.data(), leaf[0].data(),
                                         source[0].data());
  launched("Grove::cuda::find_leaves", 20 * count);
  sort_pairs(leaf, source, std::bit_width(static_cast<std::uint32_t>(cells.size())));
  bring<<<tiles.size(), threads>>>(columns[0], columns[1], device_segments.data(), tiles.data(),
                                   tiles.tile_size(), source[1].data());
  launched("Grove::cuda::bring", 36 * count);

  for (const std::int32_t cell : leaves)
    wanted.push_back(static_cast<std::uint32_t>(steps[static_cast<std::size_t>(cell)].next));
  const DeviceArray<std::uint32_t> device_wanted{std::span<const std::uint32_t>(wanted)};
  const DeviceArray<std::uint32_t> found(wanted.size());
  const auto number = static_cast<std::uint32_t>(wanted.size());
  count_before<<<(number + 127) / 128, 128>>>(leaf[1].data(), static_cast<std::uint32_t>(count),
                                              device_wanted.data(), number, found.data());
  launched("Grove::cuda::count_before");
  found.download(before);
  return before;
}

}  // namespace grove::cuda
