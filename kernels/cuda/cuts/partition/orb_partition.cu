#include <cstddef>

#include "base/activity.hpp"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

constexpr int rounds = static_cast<int>(OrbPartition::tile_size) / threads;  ///< records of a thread
constexpr int columns_count = 4;

/// Tight bounds of the two sides of a tile, by warp.
struct TileBounds {
  Coordinate low[2][3][warps], high[2][3][warps];

  /// By the first six threads. Most tiles change nothing of the cell's bounds, and find that out by reading.
  __device__ void add_to(ChildBounds& cell) const {
    const int side = static_cast<int>(threadIdx.x) / 3, axis = static_cast<int>(threadIdx.x) % 3;
    Coordinate least = ~0u, most = 0;
    for (int w = 0; w < warps; ++w) {
      least = min(least, low[side][axis][w]);
      most = max(most, high[side][axis][w]);
    }
    if (least < *static_cast<volatile Coordinate*>(&cell.low[side][axis]))
      atomicMin(&cell.low[side][axis], least);
    if (most > *static_cast<volatile Coordinate*>(&cell.high[side][axis]))
      atomicMax(&cell.high[side][axis], most);
  }
};

/// A tile in its new order.
using Staged = std::uint32_t[columns_count][OrbPartition::tile_size];

/// Writes staged records first .. first + count - 1 to the columns from `begin` on, so that a warp writes
/// whole cache lines, and finds their bounds.
__device__ void write_side(const Staged& staged, std::uint32_t first, std::uint32_t count, const Columns& to,
                           std::uint64_t begin, int side, TileBounds& bounds) {
  Coordinate low[3] = {~0u, ~0u, ~0u}, high[3] = {0, 0, 0};
  std::uint32_t* column[columns_count];
#pragma unroll
  for (int c = 0; c < columns_count; ++c) column[c] = to.at[c] + begin;
  const auto behind = static_cast<int>(begin % 32);
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x) - behind; i < static_cast<int>(count); i += threads) {
    if (i < 0) continue;
#pragma unroll
    for (int c = 0; c < columns_count; ++c) {
      const std::uint32_t value = staged[c][first + i];
      __stcs(column[c] + i, value);
      if (c < 3) low[c] = min(low[c], value), high[c] = max(high[c], value);
    }
  }
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const Coordinate least = __reduce_min_sync(~0u, low[axis]), most = __reduce_max_sync(~0u, high[axis]);
    if (threadIdx.x % 32 == 0) {
      bounds.low[side][axis][threadIdx.x / 32] = least;
      bounds.high[side][axis][threadIdx.x / 32] = most;
    }
  }
}

/// Reads a tile and stages it, what goes left before what goes right, both in the order given. Returns how
/// many go left. is_full: the tile has tile_size records.
template <bool is_full>
__device__ std::uint32_t stage(Staged& staged, const Columns& from, std::uint64_t begin, std::uint32_t size,
                               int axis, const Cut& cut, const ParticleId* ids) {
  __shared__ std::uint32_t warp_left[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // A warp's records are neighbours; so are those that its lanes read together.
  const auto first_place = static_cast<std::uint32_t>(warp * 32 * rounds + lane);
  std::uint32_t value[columns_count][rounds];
#pragma unroll
  for (int c = 0; c < columns_count; ++c) {
    const std::uint32_t* const column = from.at[c] + begin + first_place;
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      value[c][r] = is_full || first_place + 32 * r < size ? __ldcs(column + 32 * r) : 0;
  }
  unsigned is_left = 0;  // by round
  std::uint32_t before[rounds], of_warp = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const Coordinate key = axis == 0 ? value[0][r] : axis == 1 ? value[1][r] : value[2][r];
    bool left = key < cut.coordinate;
    if (key == cut.coordinate && (is_full || first_place + 32 * r < size))
      left = id_of(ids, value[3][r]) < cut.id;
    if (!is_full) left = left && first_place + 32 * r < size;
    is_left |= static_cast<unsigned>(left) << r;
    const unsigned votes = __ballot_sync(~0u, left);
    before[r] = of_warp + __popc(votes & ((1u << lane) - 1));
    of_warp += __popc(votes);
  }
  if (lane == 0) warp_left[warp] = of_warp;
  __syncthreads();
  std::uint32_t all_left = 0, left_of_warp = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w == warp) left_of_warp = all_left;
    all_left += warp_left[w];
  }
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const std::uint32_t place = first_place + 32 * r, lefts = left_of_warp + before[r];
    if (!is_full && place >= size) continue;
    const std::uint32_t to = is_left >> r & 1 ? lefts : all_left + (place - lefts);
#pragma unroll
    for (int c = 0; c < columns_count; ++c) staged[c][to] = value[c][r];
  }
  return all_left;
}

__global__ void clear_bounds(ChildBounds* bounds, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) bounds[i] = ChildBounds::of_nothing();
}

__global__ void __launch_bounds__(threads, 4)
    partition(const Columns columns0, const Columns columns1, const ParticleId* ids, const CellTask* tasks,
              const Tile* tiles, const std::uint32_t* number, const std::uint32_t* left_before,
              ChildBounds* bounds) {
  extern __shared__ __align__(16) std::byte shared[];
  Staged& staged = *reinterpret_cast<Staged*>(shared);
  __shared__ TileBounds tile_bounds;
  if (blockIdx.x >= *number) return;
  const Tile tile = tiles[blockIdx.x];
  const std::uint32_t left_in_cell = left_before[blockIdx.x] - left_before[blockIdx.x - tile.number];
  const CellTask& task = tasks[tile.task];
  if (task.is_ambiguous) return;  // fewer records go left of the cut than the cell has places there
  const std::uint64_t begin = task.first + tile.number * OrbPartition::tile_size;
  const auto size = static_cast<std::uint32_t>(min(OrbPartition::tile_size, task.first + task.count - begin));
  const Cut cut = task.cut;
  const std::uint64_t left_begin = task.first + left_in_cell;
  const std::uint64_t right_begin =
      task.first + task.left + (tile.number * OrbPartition::tile_size - left_in_cell);
  const auto run = [&](const Columns& from, const Columns& to) {
    const std::uint32_t left = size == OrbPartition::tile_size
                                   ? stage<true>(staged, from, begin, size, task.axis, cut, ids)
                                   : stage<false>(staged, from, begin, size, task.axis, cut, ids);
    __syncthreads();
    write_side(staged, 0, left, to, left_begin, 0, tile_bounds);
    write_side(staged, left, size - left, to, right_begin, 1, tile_bounds);
  };
  if (task.from == 0)
    run(columns0, columns1);
  else
    run(columns1, columns0);
  __syncthreads();
  if (threadIdx.x < 6) tile_bounds.add_to(bounds[tile.task]);
}

}  // namespace

void OrbPartition::run(const Columns (&columns)[2], const ParticleId* ids, const CellTask* tasks,
                       const Tiles& tiles, const std::uint32_t* left_before, ChildBounds* bounds) {
  clear_bounds<<<(tiles.tasks() + 127) / 128, 128>>>(bounds, tiles.tasks());
  launched("Grove::cuda::clear_bounds");
  if (tiles.size() == 0) return;
  run(columns, ids, tasks, tiles.data(), tiles.size(), tiles.begin() + tiles.tasks(), left_before, bounds);
  activity().device_bytes += 32 * tiles.records();
}

void OrbPartition::run(const Columns (&columns)[2], const ParticleId* ids, const CellTask* tasks,
                       const Tile* tiles, std::uint32_t most, const std::uint32_t* number,
                       const std::uint32_t* left_before, ChildBounds* bounds) {
  static const bool is_set = [] {
    GROVE_CUDA(cudaFuncSetAttribute(partition, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Staged)));
    return true;
  }();
  static_cast<void>(is_set);
  partition<<<most, threads, sizeof(Staged)>>>(columns[0], columns[1], ids, tasks, tiles, number, left_before,
                                               bounds);
  launched("Grove::cuda::partition");
}

}  // namespace grove::cuda
