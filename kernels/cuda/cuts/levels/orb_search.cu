#include "kernels/cuda/cuts/levels/orb_search.cuh"

#include <cub/block/block_scan.cuh>

#include "kernels/cuda/cuts/partition/block_select.cuh"
#include "kernels/cuda/cuts/partition/key_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {
namespace {

/// A bin with more keys than this is divided again by all blocks before one block selects in it.
constexpr std::uint64_t crowded = 1u << 16;

constexpr int histogram_threads = 256;
constexpr int select_threads = 512;
constexpr int bits = 11;

/// Bins of 2^shift coordinates from `origin` on (modulo 2^32).
struct Bins {
  Coordinate origin;
  int shift;

  __device__ std::uint32_t of(Coordinate key) const { return (key - origin) >> shift; }
};

/// In the first round as many bins on both sides of the middle, then all inside the interval.
__device__ Bins bins_of(const CellTask& task, bool is_first) {
  if (!is_first) return {task.key_first, max(0, bit_width(task.key_last - task.key_first) - bits)};
  const Coordinate middle = task.middle;
  const std::uint64_t side =
      max(static_cast<std::uint64_t>(task.high - middle) + 1, static_cast<std::uint64_t>(middle - task.low));
  const int shift = max(0, bit_width(side - 1) - (bits - 1));
  return {middle - (Coordinate{1} << (bits - 1 + shift)), shift};
}

__device__ bool is_crowded(const CellTask& task) {
  return task.inside > crowded && task.key_last > task.key_first;
}

__global__ void __launch_bounds__(histogram_threads)
    count_bins(const Columns columns0, const Columns columns1, const CellTask* tasks, const Tile* tiles,
               std::uint64_t tile_size, bool is_first, std::uint32_t* counts) {
  __shared__ std::uint32_t own[1 << bits];
  const Tile tile = tiles[blockIdx.x];
  const CellTask& task = tasks[tile.task];
  if (!is_first && !is_crowded(task)) return;
  for (int b = threadIdx.x; b < 1 << bits; b += histogram_threads) own[b] = 0;
  __syncthreads();
  const std::uint32_t* const column = column_of(columns0, columns1, task.from, task.axis);
  const Bins bins = bins_of(task, is_first);
  const Coordinate first = task.key_first, width = task.key_last - first;
  const std::uint64_t begin = task.first + tile.number * tile_size;
  const std::uint64_t end = min(begin + tile_size, task.first + task.count);
  for_each_key(column, begin, end, {threadIdx.x, histogram_threads}, [&](Coordinate key, std::uint64_t) {
    if (key - first <= width) atomicAdd(&own[bins.of(key)], 1u);
  });
  __syncthreads();
  std::uint32_t* const all = counts + (static_cast<std::uint64_t>(tile.task) << bits);
  for (int b = threadIdx.x; b < 1 << bits; b += histogram_threads)
    if (own[b] > 0) atomicAdd(&all[b], own[b]);
}

/// One block per cell: goes on with the bin that holds the cut.
__global__ void __launch_bounds__(histogram_threads)
    choose_bin(CellTask* tasks, const CutScheme scheme, bool is_first, std::uint32_t* counts) {
  using Scan = cub::BlockScan<std::uint32_t, histogram_threads>;
  constexpr int per_thread = (1 << bits) / histogram_threads;
  __shared__ typename Scan::TempStorage scan_storage;
  __shared__ std::uint32_t left_of_middle;
  CellTask& task = tasks[blockIdx.x];
  if (!is_first && !is_crowded(task)) return;
  const Bins bins = bins_of(task, is_first);
  std::uint32_t* const all = counts + (static_cast<std::uint64_t>(blockIdx.x) << bits);

  std::uint32_t count[per_thread], before[per_thread];
  for (int k = 0; k < per_thread; ++k) count[k] = all[threadIdx.x * per_thread + k];
  Scan(scan_storage).ExclusiveSum(count, before);
  constexpr int middle = 1 << (bits - 1);
  if (threadIdx.x == middle / per_thread) left_of_middle = before[middle % per_thread];
  __syncthreads();
  std::uint64_t left = task.left;
  if (is_first && !task.left_is_known) {
    const auto all_records = static_cast<Count>(task.count);
    left = static_cast<std::uint64_t>(
        scheme.target(all_records, all_records, task.leaves, left_of_middle).longest());
  }
  const std::uint64_t rank = left - task.below;
  const Coordinate key_first = task.key_first, key_last = task.key_last;
  __syncthreads();
  for (int k = 0; k < per_thread; ++k) {
    if (rank < before[k] || rank - before[k] >= count[k]) continue;
    const std::uint32_t b = threadIdx.x * per_thread + k;
    const Coordinate begin = bins.origin + (b << bins.shift);
    // The outermost bins reach beyond the interval, perhaps around the end of the coordinates.
    const bool reaches_out = begin - key_first > key_last - key_first;
    const std::uint64_t last = reaches_out ? static_cast<std::uint64_t>(begin + ((1u << bins.shift) - 1))
                                           : static_cast<std::uint64_t>(begin) + ((1ull << bins.shift) - 1);
    task.key_first = reaches_out ? key_first : begin;
    task.key_last = static_cast<Coordinate>(min(last, static_cast<std::uint64_t>(key_last)));
    task.below += before[k];
    task.inside = count[k];
    task.left = left;
  }
  for (int k = 0; k < per_thread; ++k) all[threadIdx.x * per_thread + k] = 0;  // for the next round
}

/// One block: where each cell's list begins, and what is still to do.
__global__ void __launch_bounds__(1024)
    plan_lists(CellTask* tasks, std::uint32_t count, SearchProgress* progress) {
  using Scan = cub::BlockScan<std::uint64_t, 1024>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ unsigned long long again;
  if (threadIdx.x == 0) again = 0;
  __syncthreads();
  std::uint64_t begin = 0;
  for (std::uint32_t base = 0; base < count; base += 1024) {
    const std::uint32_t i = base + threadIdx.x;
    std::uint64_t inside = i < count ? tasks[i].inside : 0, before = 0, total = 0;
    Scan(storage).ExclusiveSum(inside, before, total);
    if (i < count) {
      tasks[i].list_begin = begin + before;
      if (is_crowded(tasks[i])) atomicAdd(&again, static_cast<unsigned long long>(tasks[i].count));
    }
    begin += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) *progress = {begin, again};
}

/// The gathered keys of all cells: one after the other, in no order.
struct Lists {
  std::uint32_t *keys, *indices, *pieces;
};

/// Gathers the keys of the bins, and counts in each piece those that are less: they go left.
__global__ void __launch_bounds__(histogram_threads)
    gather_keys(const Columns columns0, const Columns columns1, const CellTask* tasks, const Tile* tiles,
                std::uint64_t tile_size, const std::uint32_t* first_piece, std::uint32_t* fill,
                const Lists lists, std::uint32_t* left_in) {
  constexpr std::uint64_t piece_size = OrbPartition::tile_size;
  const Tile tile = tiles[blockIdx.x];
  const CellTask& task = tasks[tile.task];
  const std::uint32_t* const column = column_of(columns0, columns1, task.from, task.axis);
  const std::uint32_t* const index = column_of(columns0, columns1, task.from, 3);
  const Coordinate first = task.key_first, width = task.key_last - first;
  const std::uint64_t begin = tile.number * tile_size, end = min(begin + tile_size, task.count);
  for (std::uint64_t b = begin + threadIdx.x / 32 * piece_size; b < end;
       b += histogram_threads / 32 * piece_size) {
    const std::uint32_t piece = first_piece[tile.task] + static_cast<std::uint32_t>(b / piece_size);
    std::uint32_t less = 0;
    for_each_key(column, task.first + b, task.first + min(b + piece_size, end), {threadIdx.x % 32, 32},
                 [&](Coordinate key, std::uint64_t position) {
                   less += key < first;
                   if (key - first > width) return;
                   const std::uint64_t place = task.list_begin + atomicAdd(&fill[tile.task], 1u);
                   lists.keys[place] = key;
                   lists.indices[place] = index[position];
                   lists.pieces[place] = piece;
                 });
    less = __reduce_add_sync(~0u, less);
    if (threadIdx.x % 32 == 0) left_in[piece] = less;
  }
}

/// One block per cell: the cut among its gathered keys, first by coordinate, then by id.
__global__ void __launch_bounds__(select_threads)
    select_cut(CellTask* tasks, const ParticleId* ids, const Lists lists, std::uint32_t* left_in) {
  CellTask& task = tasks[blockIdx.x];
  const auto count = static_cast<std::uint32_t>(task.inside);
  const std::uint32_t* const keys = lists.keys + task.list_begin;
  const auto id_at = [&](std::uint32_t i) {
    const std::uint32_t index = lists.indices[task.list_begin + i];
    return id_of(ids, task.via ? task.via[index] : index);
  };
  const auto rank = static_cast<std::uint32_t>(task.left - task.below);
  const auto [cut, is_ambiguous] = select_by_key_and_id<select_threads>(
      task.key_first, task.key_last, rank, count, [&](std::uint32_t i) { return keys[i]; }, id_at);
  if (threadIdx.x == 0) {
    task.cut = {cut.id, cut.coordinate, task.axis};
    task.is_ambiguous = is_ambiguous;
  }
  for (std::uint32_t i = threadIdx.x; i < count; i += select_threads)
    if (keys[i] < cut.coordinate || (keys[i] == cut.coordinate && id_at(i) < cut.id))
      atomicAdd(&left_in[lists.pieces[task.list_begin + i]], 1u);
}

}  // namespace

void OrbSearch::run(CellTask* tasks, const Tiles& tiles, const Tiles& pieces, LeftCounts& left) {
  const std::uint32_t cells = tiles.tasks();
  bins_.reserve(static_cast<std::size_t>(cells) << bits);
  list_fill_.reserve(cells);
  progress_.reserve(1);
  GROVE_CUDA(
      cudaMemsetAsync(bins_.data(), 0, (static_cast<std::size_t>(cells) << bits) * sizeof(std::uint32_t)));
  GROVE_CUDA(cudaMemsetAsync(list_fill_.data(), 0, cells * sizeof(std::uint32_t)));

  SearchProgress progress{0, tiles.records()};
  for (bool is_first = true; progress.again > 0; is_first = false) {
    count_bins<<<tiles.size(), histogram_threads>>>(columns_[0], columns_[1], tasks, tiles.data(),
                                                    tiles.tile_size(), is_first, bins_.data());
    launched("Grove::cuda::count_bins", 4 * progress.again);
    choose_bin<<<cells, histogram_threads>>>(tasks, scheme_, is_first, bins_.data());
    launched("Grove::cuda::choose_bin");
    plan_lists<<<1, 1024>>>(tasks, cells, progress_.data());
    launched("Grove::cuda::plan_lists");
    progress_.download(std::span(&progress, 1));
  }
  for (auto* list : {&list_keys_, &list_indices_, &list_pieces_}) list->reserve(progress.gathered);
  left.reserve(pieces.size());
  const Lists lists{list_keys_.data(), list_indices_.data(), list_pieces_.data()};
  gather_keys<<<tiles.size(), histogram_threads>>>(columns_[0], columns_[1], tasks, tiles.data(),
                                                   tiles.tile_size(), pieces.begin(), list_fill_.data(),
                                                   lists, left.in());
  launched("Grove::cuda::gather_keys", 4 * tiles.records());
  select_cut<<<cells, select_threads>>>(tasks, ids_, lists, left.in());
  launched("Grove::cuda::select_cut");
  left.scan(pieces.size());
}

}  // namespace grove::cuda
