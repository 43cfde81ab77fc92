#include "kernels/cuda/run_descent.cuh"

#include <algorithm>
#include <bit>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/run_cut.cuh"
#include "kernels/cuda/tiles.cuh"

namespace grove::cuda {
namespace {

constexpr int large_block = 1024, medium_block = 512, small_block = 256, warp_block = 256;
/// So few small cells get medium blocks.
constexpr std::uint32_t few_cells = 512;
/// Enough to fill the processors of a GPU; blocks go through the tasks of a level with this stride.
constexpr std::uint32_t most_blocks = 1024;
/// Records of a cell that one block cuts down to the leaves.
constexpr std::uint32_t small_cell = 1u << 13;
/// Room for runs of all levels, for each at the beginning.
constexpr std::uint64_t capacity_per_run = 64;
/// Where cells have fewer records in the mean, runs would become very short.
constexpr std::uint64_t least_leaf = 2 * run_size;

/// Of keys on one axis; all lanes of a warp.
struct RunBounds {
  Coordinate low, high;

  __device__ static RunBounds of(const Coordinate* column, std::uint32_t count) {
    const RunKeys keys(column, count);
    RunBounds own{~0u, 0};
#pragma unroll
    for (int row = 0; row < RunKeys::rows; ++row) {
      if (32 * row + threadIdx.x % 32 >= count) break;
      own.low = min(own.low, keys.key[row]);
      own.high = max(own.high, keys.key[row]);
    }
    return {__reduce_min_sync(~0u, own.low), __reduce_max_sync(~0u, own.high)};
  }
};

/// Bounds of the runs that roots begin with; a warp per run.
__global__ void __launch_bounds__(warp_block)
    make_runs(const RunWork work, const Tile* tiles, std::uint32_t number) {
  const std::uint32_t r = blockIdx.x * (warp_block / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= number) return;
  const Tile tile = tiles[r];
  const RunCell& root = work.cells[tile.task];
  const std::uint32_t in_root = tile.number * run_size, begin = root.first + in_root,
                      count = min(run_size, root.count - in_root);
  RunBounds bounds[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) bounds[axis] = RunBounds::of(work.records.at[axis] + begin, count);
  if (lane > 0) return;
  work.runs.begin[r] = begin, work.runs.count[r] = count;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis)
    work.runs.low[axis][r] = bounds[axis].low, work.runs.high[axis][r] = bounds[axis].high;
}

__global__ void __launch_bounds__(large_block) find_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (blockIdx.x == 0 && threadIdx.x == 0) work.head->divisions = work.head->most_count = 0;
  if (head.overflow) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x)
    if (!work.is_small(work.cells[c])) {
      work.bins[(c - head.level_begin) * run_bins + threadIdx.x] = 0;
      find_window<large_block>(work, c);
    }
}

__global__ void __launch_bounds__(warp_block) count_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32;
  for (std::uint32_t t = blockIdx.x * warps + threadIdx.x / 32; t < head.listings; t += gridDim.x * warps) {
    const RunTask task = work.listings[t];
    count_keys(work, task, work.bins + (task.cell - head.level_begin) * run_bins);
  }
}

__global__ void __launch_bounds__(large_block) narrow_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (head.overflow) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x)
    if (!work.is_small(work.cells[c]))
      narrow_window<large_block>(work, c, work.bins + (c - head.level_begin) * run_bins);
}

__global__ void __launch_bounds__(warp_block) list_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32;
  for (std::uint32_t t = blockIdx.x * warps + threadIdx.x / 32; t < head.listings; t += gridDim.x * warps)
    list_keys(work, work.listings[t]);
}

__global__ void __launch_bounds__(large_block) cut_cells(const RunWork work) {
  const RunHead& head = *work.head;
  if (blockIdx.x == 0 && threadIdx.x == 0) work.head->listings = 0;
  if (head.overflow) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x) {
    if (work.is_small(work.cells[c])) continue;
    const std::uint32_t child = cut_cell<large_block>(work, c).child;
    if (child == RunCut::none || threadIdx.x >= 2) continue;
    const std::uint32_t own = child + threadIdx.x;
    if (work.is_small(work.cells[own]))
      work.small_cells[atomicAdd(&work.head->small_cells, 1u)] = own;
    else
      atomicMax(&work.head->most_count, work.cells[own].count);
  }
}

__global__ void __launch_bounds__(warp_block) divide_runs(const RunWork work) {
  RunHead& head = *work.head;
  if (blockIdx.x == 0 && threadIdx.x == 0) {  // the level below
    head.level_begin = head.level_end;
    head.level_end = work.first_child + 2 * head.cuts;
  }
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32;
  for (std::uint32_t t = blockIdx.x * warps + threadIdx.x / 32; t < head.divisions; t += gridDim.x * warps)
    divide_run(work, work.divisions[t]);
}

/// Brings the records of a leaf together. By one block.
template <int threads>
__device__ void gather_leaf(const RunWork& work, std::uint32_t number) {
  __shared__ std::uint32_t place;
  const RunCell cell = work.cells[number];
  const CellBounds bounds = bounds_of<threads>(work.runs, cell);
  if (threadIdx.x == 0) place = cell.first, report_bounds(work, number, bounds);
  __syncthreads();
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t r = threadIdx.x / 32; r < cell.runs; r += threads / 32) {
    const std::uint32_t from = work.runs.begin[cell.first_run + r],
                        count = work.runs.count[cell.first_run + r];
    std::uint32_t to = 0;
    if (lane == 0) to = atomicAdd(&place, count);
    to = __shfl_sync(~0u, to, 0);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const RunKeys values(work.records.at[c] + from, count);
#pragma unroll
      for (int row = 0; row < RunKeys::rows; ++row)
        if (32 * row + lane < count) work.sorted.at[c][to + 32 * row + lane] = values.key[row];
    }
  }
  __syncthreads();
}

/// Cuts small cells down to their leaves, a block per cell. The child with fewer leaves is next, so that few
/// cells wait.
template <int threads>
__global__ void __launch_bounds__(threads) finish_cells(const RunWork work) {
  __shared__ std::uint32_t waiting[33], bins[run_bins];
  __shared__ int number;
  if (work.head->overflow) return;
  constexpr std::uint32_t warp_count = threads / 32;
  if (threadIdx.x == 0) waiting[0] = work.small_cells[blockIdx.x], number = 1;
  __syncthreads();
  while (number > 0) {
    const std::uint32_t c = waiting[number - 1];
    __syncthreads();
    if (threadIdx.x == 0) --number;
    if (work.is_leaf(work.cells[c])) {
      gather_leaf<threads>(work, c);
      continue;
    }
    for (std::uint32_t b = threadIdx.x; b < run_bins; b += threads) bins[b] = 0;
    const RunSpan met = find_window<threads>(work, c);
    for (std::uint32_t t = threadIdx.x / 32; t < met.count; t += warp_count)
      count_keys(work, work.listings[met.begin + t], bins);
    narrow_window<threads>(work, c, bins);
    for (std::uint32_t t = threadIdx.x / 32; t < met.count; t += warp_count)
      list_keys(work, work.listings[met.begin + t]);
    __syncthreads();
    const RunCut cut = cut_cell<threads>(work, c);
    if (cut.child == RunCut::none) return;  // all is in vain
    for (std::uint32_t t = threadIdx.x / 32; t < cut.divisions.count; t += warp_count)
      divide_run(work, work.divisions[cut.divisions.begin + t]);
    if (threadIdx.x == 0) {
      const bool left_is_next = work.cells[cut.child].leaves < work.cells[cut.child + 1].leaves;
      waiting[number++] = cut.child + (left_is_next ? 1 : 0);
      waiting[number++] = cut.child + (left_is_next ? 0 : 1);
    }
    __syncthreads();
  }
}

/// Adds up how long runs are on the three axes; a warp per run, of as many as there are warps.
__global__ void __launch_bounds__(warp_block)
    measure_runs(const Columns records, std::uint64_t runs, double* sum) {
  constexpr std::uint32_t warps = warp_block / 32;
  const std::uint64_t w = blockIdx.x * warps + threadIdx.x / 32;
  const std::uint64_t begin = w * runs / (gridDim.x * warps) * run_size;
  double length = 0;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const RunBounds own = RunBounds::of(records.at[axis] + begin, run_size);
    length += own.high - own.low;
  }
  if (threadIdx.x % 32 == 0) atomicAdd(sum, length);
}

/// Levels that cells of so many records have, at least, until all are small.
int levels_until(std::uint64_t count, std::uint64_t small) {
  return count == 0 ? 0 : static_cast<int>(std::bit_width((count - 1) / small));
}

}  // namespace

bool RunDescent::suits(std::span<const OrbCell> roots) const {
  constexpr std::uint64_t warps = 1024;
  // Of the longest extent of all, in the mean of the axes; runs of records in no order have most of it.
  constexpr double longest = 0.2;
  std::uint64_t records = 0, leaves = 0;
  CellBounds bounds = CellBounds::of_nothing();
  for (const OrbCell& root : roots) {
    records += root.count;
    leaves += static_cast<std::uint64_t>(root.leaves);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.low[axis] = std::min(bounds.low[axis], root.bounds.low[axis]);
      bounds.high[axis] = std::max(bounds.high[axis], root.bounds.high[axis]);
    }
  }
  if (records < warps * run_size / 8 || records / leaves < least_leaf) return false;
  DeviceArray<double> sum(1);
  sum.clear();
  measure_runs<<<warps * 32 / warp_block, warp_block>>>(records_, records / run_size, sum.data());
  launched("Grove::cuda::measure_runs");
  double length = 0;
  sum.download(std::span(&length, 1));
  const int axis = longest_axis(bounds.low, bounds.high);
  return length <= longest * 3 * static_cast<double>(warps) * (bounds.high[axis] - bounds.low[axis]);
}

RunWork RunDescent::prepare(std::span<const OrbCell> roots) {
  std::uint64_t records = 0, leaves = 0, runs = 0;
  for (const OrbCell& root : roots) {
    records += root.count;
    leaves += static_cast<std::uint64_t>(root.leaves);
  }
  RunWork work{};
  work.small_count = small_cell;
  RunHead head{};
  head.level_end = work.first_child = static_cast<std::uint32_t>(roots.size());
  std::vector<RunCell> cells;
  std::vector<std::uint32_t> small;
  std::vector<std::uint64_t> counts;
  for (const OrbCell& root : roots) {
    RunCell& cell = cells.emplace_back();
    cell.first = static_cast<std::uint32_t>(root.first), cell.count = static_cast<std::uint32_t>(root.count);
    cell.leaves = root.leaves;
    cell.first_run = static_cast<std::uint32_t>(runs);
    cell.runs = static_cast<std::uint32_t>((root.count + run_size - 1) / run_size);
    runs += cell.runs;
    counts.push_back(root.count);
    if (root.leaves == 1 || cell.count <= work.small_count)
      small.push_back(static_cast<std::uint32_t>(cells.size() - 1));
    else
      head.most_count = std::max(head.most_count, cell.count);
  }
  head.runs = static_cast<std::uint32_t>(runs);
  head.small_cells = static_cast<std::uint32_t>(small.size());

  const std::uint64_t capacity = runs * capacity_per_run;
  head_ = DeviceArray<RunHead>(std::span<const RunHead>(&head, 1));
  cells_ = DeviceArray<RunCell>(2 * leaves);
  cells_.upload(cells);
  bins_ = DeviceArray<std::uint32_t>(run_bins * (2 * records / small_cell + roots.size()));
  small_cells_ = DeviceArray<std::uint32_t>(leaves + roots.size());
  small_cells_.upload(small);
  for (auto& column : runs_) column = DeviceArray<std::uint32_t>(capacity);
  listings_ = DeviceArray<RunTask>(capacity);
  divisions_ = DeviceArray<RunTask>(capacity);
  cuts_ = DeviceArray<FoundCut>(leaves);
  work.records = records_, work.sorted = sorted_;
  work.ids = ids_, work.scheme = scheme_;
  work.capacity = static_cast<std::uint32_t>(capacity);
  work.head = head_.data(), work.cells = cells_.data();
  work.runs = {runs_[0].data(),
               runs_[1].data(),
               {runs_[2].data(), runs_[3].data(), runs_[4].data()},
               {runs_[5].data(), runs_[6].data(), runs_[7].data()}};
  work.listings = listings_.data(), work.divisions = divisions_.data();
  work.bins = bins_.data(), work.small_cells = small_cells_.data(), work.cuts = cuts_.data();

  Tiles tiles(run_size);
  tiles.make(counts);
  constexpr std::uint32_t warps = warp_block / 32;
  make_runs<<<(tiles.size() + warps - 1) / warps, warp_block>>>(work, tiles.data(), tiles.size());
  launched("Grove::cuda::make_runs", 12 * records);
  return work;
}

/// Cuts all cells that are not small. Returns what has been given out.
RunHead RunDescent::cut_large(const RunWork& work, std::uint32_t most_count) {
  RunHead head{};
  head.level_end = work.first_child;
  head.most_count = most_count;
  while (true) {
    const int levels = levels_until(head.most_count, work.small_count);
    std::uint64_t cells = head.level_end - head.level_begin;
    for (int i = 0; i < levels; ++i, cells *= 2) {
      const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(cells, most_blocks));
      find_windows<<<blocks, large_block>>>(work);
      launched("Grove::cuda::find_windows");
      count_windows<<<most_blocks, warp_block>>>(work);
      launched("Grove::cuda::count_windows");
      narrow_windows<<<blocks, large_block>>>(work);
      launched("Grove::cuda::narrow_windows");
      list_windows<<<most_blocks, warp_block>>>(work);
      launched("Grove::cuda::list_windows");
      cut_cells<<<blocks, large_block>>>(work);
      launched("Grove::cuda::cut_cells");
      divide_runs<<<most_blocks, warp_block>>>(work);
      launched("Grove::cuda::divide_runs");
    }
    head_.download(std::span(&head, 1));
    if (head.most_count == 0 || head.overflow) return head;
  }
}

bool RunDescent::run(std::span<const OrbCell> roots, const OrbDescent::TakeCut& take) {
  const RunWork work = prepare(roots);
  std::uint32_t most_count = 0;
  for (const OrbCell& root : roots)
    if (root.leaves > 1 && root.count > work.small_count)
      most_count = std::max(most_count, static_cast<std::uint32_t>(root.count));
  RunHead head = cut_large(work, most_count);
  if (head.overflow) return false;
  if (head.small_cells > 0 && head.small_cells < few_cells)
    finish_cells<medium_block><<<head.small_cells, medium_block>>>(work);
  else if (head.small_cells > 0)
    finish_cells<small_block><<<head.small_cells, small_block>>>(work);
  launched("Grove::cuda::finish_cells");
  head_.download(std::span(&head, 1));
  if (head.overflow) return false;
  std::vector<FoundCut> cuts(head.cuts);
  device_download(cuts.data(), cuts_.data(), cuts.size() * sizeof(FoundCut));
  std::for_each(cuts.begin(), cuts.end(), take);
  return true;
}

}  // namespace grove::cuda
