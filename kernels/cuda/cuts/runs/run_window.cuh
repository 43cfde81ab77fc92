#pragma once

#include "kernels/cuda/cuts/partition/block_select.cuh"
#include "kernels/cuda/cuts/runs/runs.cuh"

/// The search of a cell's cut by the bounds of its runs alone; then a look at the runs that lie there.
namespace grove::cuda {

/// The tight bounds of a cell. All threads of a block; every one gets the answer.
template <int threads>
__device__ CellBounds bounds_of(const Runs& runs, const RunCell& cell) {
  __shared__ Coordinate low[3], high[3];
  __syncthreads();
  if (threadIdx.x < 3) low[threadIdx.x] = ~0u, high[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t end = cell.first_run + cell.runs;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    Coordinate least = ~0u, most = 0;
#pragma unroll 4
    for (std::uint32_t r = cell.first_run + threadIdx.x; r < end; r += threads) {
      least = min(least, runs.low[axis][r]);
      most = max(most, runs.high[axis][r]);
    }
    least = __reduce_min_sync(~0u, least);
    most = __reduce_max_sync(~0u, most);
    if (threadIdx.x % 32 == 0) atomicMin(&low[axis], least), atomicMax(&high[axis], most);
  }
  __syncthreads();
  return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

/// The sum over all threads of a block; every one gets it.
template <int threads>
__device__ std::uint32_t block_sum(std::uint32_t own) {
  __shared__ std::uint32_t all;
  __syncthreads();
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  own = __reduce_add_sync(~0u, own);
  if (threadIdx.x % 32 == 0) atomicAdd(&all, own);
  __syncthreads();
  return all;
}

/// How many records of a cell go left if so many lie left of its middle.
__device__ inline std::uint32_t left_of_cut(const RunWork& work, const RunCell& cell,
                                            std::uint32_t left_of_middle) {
  return static_cast<std::uint32_t>(
      work.scheme.target(cell.count, cell.count, cell.leaves, static_cast<Count>(left_of_middle)).longest());
}

/// The bin that holds the element of a rank, and how many elements are in the bins before it.
struct RankedBin {
  std::uint32_t bin, before;
};
/// All threads of a block; every one gets the answer.
template <int threads>
__device__ RankedBin bin_of_rank(const std::uint32_t* bins, std::uint32_t rank) {
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  constexpr int per_thread = run_bins / threads;
  __shared__ typename Scan::TempStorage storage;
  __shared__ RankedBin found;
  std::uint32_t number[per_thread], before[per_thread];
  __syncthreads();
  for (int k = 0; k < per_thread; ++k) number[k] = bins[threadIdx.x * per_thread + k];
  Scan(storage).ExclusiveSum(number, before);
  for (int k = 0; k < per_thread; ++k)
    if (rank >= before[k] && rank - before[k] < number[k]) found = {threadIdx.x * per_thread + k, before[k]};
  __syncthreads();
  return found;
}

/// Narrows the place of a cut by the bounds of runs: at most as many records are less than x as are in runs
/// that begin left of x, at least as many as are in runs that end there. So the key of rank k is at least
/// the k-th smallest of the runs' lower bounds, counted by records, and at most that of their upper bounds.
/// The rank may depend on how many records lie left of the middle: then the same is known of that.
///
/// Sets the cell's bounds and its search, and lists the runs of which keys have to be read: where in
/// work.listings, every thread gets; nowhere if there is no room. By one block. Cost: reads the bounds of the
/// runs three times.
template <int threads>
__device__ RunSpan find_window(const RunWork& work, std::uint32_t number) {
  __shared__ std::uint32_t low_bins[run_bins], high_bins[run_bins], listings, place;
  RunCell& cell = work.cells[number];
  const CellBounds bounds = bounds_of<threads>(work.runs, cell);
  const int axis = work.scheme.axis(bounds.low, bounds.high, cell.count);
  const Coordinate least = bounds.low[axis], most = bounds.high[axis];
  const Coordinate middle = work.scheme.middle(least, most, cell.count);
  const std::uint32_t first_run = cell.first_run, runs = cell.runs;
  const Coordinate *const low = work.low(axis) + first_run, *const high = work.high(axis) + first_run;
  const std::uint32_t* const count = work.runs.count + first_run;

  const int shift = bin_shift(least, most);
  for (std::uint32_t b = threadIdx.x; b < run_bins; b += threads) low_bins[b] = high_bins[b] = 0;
  __syncthreads();
  std::uint32_t surely_left = 0, perhaps_left = 0;  // of the middle
#pragma unroll 4
  for (std::uint32_t r = threadIdx.x; r < runs; r += threads) {
    const std::uint32_t records = count[r];
    if (records == 0) continue;
    const Coordinate first = low[r], last = high[r];
    surely_left += last < middle ? records : 0;
    perhaps_left += first < middle ? records : 0;
    atomicAdd(&low_bins[(first - least) >> shift], records);
    atomicAdd(&high_bins[(last - least) >> shift], records);
  }
  // Something is left of the middle, unless all is in one place, and something is not.
  surely_left = max(block_sum<threads>(surely_left), least < most ? 1u : 0u);
  perhaps_left = min(block_sum<threads>(perhaps_left), cell.count - 1);
  const std::uint32_t first_bin = bin_of_rank<threads>(low_bins, left_of_cut(work, cell, surely_left)).bin;
  const std::uint32_t last_bin = bin_of_rank<threads>(high_bins, left_of_cut(work, cell, perhaps_left)).bin;
  const Coordinate window_first = least + (first_bin << shift);
  const Coordinate window_last = least + min(most - least, (last_bin << shift) + ((1u << shift) - 1));

  const auto is_met = [&](std::uint32_t r) {
    const bool by_window = low[r] <= window_last && high[r] >= window_first;
    return by_window || (low[r] < middle && high[r] >= middle);
  };
  std::uint32_t below = 0, left_of_middle = 0, met = 0;
#pragma unroll 4
  for (std::uint32_t r = threadIdx.x; r < runs; r += threads) {
    const bool is = is_met(r);
    met += is;
    below += !is && high[r] < window_first ? count[r] : 0;
    left_of_middle += !is && high[r] < middle ? count[r] : 0;
  }
  below = block_sum<threads>(below);
  left_of_middle = block_sum<threads>(left_of_middle);
  met = block_sum<threads>(met);
  if (threadIdx.x == 0) {
    cell.bounds = bounds;
    cell.axis = axis;
    cell.middle = middle;
    cell.window_first = window_first, cell.window_last = window_last;
    cell.below = below, cell.left_of_middle = left_of_middle, cell.listed = 0;
    work.contents[number].bounds = bounds;
    listings = place = atomicAdd(&work.head->listings, met);
    if (listings + met > work.task_capacity) work.head->overflow = 1;
  }
  __syncthreads();
  if (listings + met > work.task_capacity) return {0, 0};
  for (std::uint32_t r = threadIdx.x; r < runs; r += threads)
    if (is_met(r)) work.listings[atomicAdd(&place, 1u)] = {number, first_run + r, 0, 0};
  __syncthreads();
  return {listings, met};
}

/// The keys of a run, row r of lane l being element 32 r + l.
struct RunKeys {
  static constexpr int rows = run_size / 32;
  Coordinate key[rows];

  __device__ RunKeys(const Coordinate* keys, std::uint32_t count) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t i = 32 * r + threadIdx.x % 32;
      key[r] = i < count ? keys[i] : 0;
    }
  }
};

/// The bounds of the keys of a run on one axis. By one warp; every lane gets the answer.
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

/// Counts the keys of a run: those left of the window of its cell and of the middle, and those in the window
/// by bin. bins: of the cell. By one warp.
__device__ inline void count_keys(const RunWork& work, const RunTask& task, std::uint32_t* bins) {
  RunCell& cell = work.cells[task.cell];
  const std::uint32_t lane = threadIdx.x % 32, begin = work.runs.begin[task.run],
                      count = work.runs.count[task.run];
  const Coordinate first = cell.window_first, last = cell.window_last, middle = cell.middle;
  const int shift = bin_shift(first, last);
  const RunKeys keys(work.keys(cell.axis) + begin, count);
  std::uint32_t less = 0, left_of_middle = 0;
#pragma unroll
  for (int r = 0; r < RunKeys::rows; ++r) {
    if (32 * r + lane >= count) break;
    less += keys.key[r] < first;
    left_of_middle += keys.key[r] < middle;
    if (keys.key[r] >= first && keys.key[r] <= last) atomicAdd(&bins[(keys.key[r] - first) >> shift], 1u);
  }
  __syncwarp();
  less = __reduce_add_sync(~0u, less);
  left_of_middle = __reduce_add_sync(~0u, left_of_middle);
  if (lane > 0) return;
  if (less > 0) atomicAdd(&cell.below, less);
  if (left_of_middle > 0) atomicAdd(&cell.left_of_middle, left_of_middle);
}

/// Narrows the window of a cell to the bin that holds the cut. By one block.
template <int threads>
__device__ void narrow_window(const RunWork& work, std::uint32_t number, const std::uint32_t* bins) {
  RunCell& cell = work.cells[number];
  __syncthreads();  // all keys have been counted
  const std::uint32_t rank = left_of_cut(work, cell, cell.left_of_middle) - cell.below;
  const RankedBin found = bin_of_rank<threads>(bins, rank);
  if (threadIdx.x == 0) {
    const Coordinate first = cell.window_first, last = cell.window_last;
    const int shift = bin_shift(first, last);
    cell.window_first = first + (found.bin << shift);
    cell.window_last = first + min(last - first, (found.bin << shift) + ((1u << shift) - 1));
    cell.below += found.before;
  }
  __syncthreads();
}

/// Lists the keys of a run that are in the window of its cell. By one warp.
__device__ inline void list_keys(const RunWork& work, const RunTask& task) {
  RunCell& cell = work.cells[task.cell];
  const Coordinate first = cell.window_first, last = cell.window_last;
  if (work.low(cell.axis)[task.run] > last || work.high(cell.axis)[task.run] < first) return;
  const std::uint32_t lane = threadIdx.x % 32, begin = work.runs.begin[task.run],
                      count = work.runs.count[task.run];
  const RunKeys keys(work.keys(cell.axis) + begin, count);
  std::uint32_t hits = 0, inside = 0;
#pragma unroll
  for (int r = 0; r < RunKeys::rows; ++r) {
    if (32 * r >= count) break;
    const bool is_hit = 32 * r + lane < count && keys.key[r] >= first && keys.key[r] <= last;
    hits |= static_cast<std::uint32_t>(is_hit) << r;
    inside += __popc(__ballot_sync(~0u, is_hit));
  }
  if (inside == 0) return;
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(&cell.listed, inside);
  place = __shfl_sync(~0u, place, 0);
  const WindowList list(work, cell);
#pragma unroll
  for (int r = 0; r < RunKeys::rows; ++r) {
    if (32 * r >= count) break;
    const bool is_hit = hits >> r & 1;
    const unsigned votes = __ballot_sync(~0u, is_hit);
    if (is_hit) {
      const std::uint32_t at = place + __popc(votes & ((1u << lane) - 1));
      list.keys[at] = keys.key[r];
      list.places[at] = begin + 32 * r + lane;
    }
    place += __popc(votes);
  }
}

}  // namespace grove::cuda
