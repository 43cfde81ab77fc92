#include "kernels/cuda/cuts/runs/run_descent.cuh"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/cuts/runs/run_cut.cuh"
#include "kernels/cuda/cuts/runs/run_order.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace grove::cuda {
namespace {

/// Threads of a block that has a cell to itself, and of one that has a task per warp.
constexpr int large_block = 1024, medium_block = 512, small_block = 256, warp_block = 256;
/// So few cells get larger blocks, which then all have a place on the GPU.
constexpr std::uint32_t few_cells = 264;
/// Levels that are started beyond those of even halvings before the host looks for cells that are not small:
/// domain cells of galaxies need one to three. Geometric halvings often take little off.
constexpr int more_levels = 3, more_geometric_levels = 8;
/// Enough to fill the processors of a GPU; blocks go through the tasks of a level with this stride.
constexpr std::uint32_t most_blocks = 1056;
/// Records of a cell that one block cuts down to the leaves.
constexpr std::uint32_t small_cell = 1u << 13;
/// Room for runs of all levels, for each at the beginning.
constexpr std::uint64_t capacity_per_run = 64, task_capacity_per_run = 8;
/// Room for cuts where their number is not known: for so many times as many as there are at least, and some
/// more. A Plummer sphere has 4.2 to 1.8 times as many where the least number is 32 to 256.
constexpr std::uint64_t cuts_per_least = 4, more_cuts = 1024;
/// With fewer records there is little to win; where leaves have fewer in the mean, runs become very short;
/// larger ones are too much for the one block that gathers them.
constexpr std::uint64_t least_records = 1u << 16, least_leaf = 2 * run_size, most_leaf = 1u << 18;

/// True if all is in vain. All threads of a block, which may see it at different times but agree.
__device__ bool is_in_vain(const RunWork& work) {
  return __syncthreads_or(static_cast<int>(work.head->overflow)) != 0;
}

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

template <int threads>
__global__ void __launch_bounds__(threads) find_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    work.head->divisions = work.head->most_count = 0;
    work.head->cuts_before = head.cuts;
  }
  if (is_in_vain(work)) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x)
    if (!work.is_small(work.cells[c])) {
      std::uint32_t* const bins = work.bins + (c - head.level_begin) * run_bins;
      for (std::uint32_t b = threadIdx.x; b < run_bins; b += threads) bins[b] = 0;
      find_window<threads>(work, c);
    }
}

/// Tasks that one block counts in its own bins before it adds them to those of their cell.
struct TasksOfCell {
  std::uint32_t begin, end, cell;

  /// The next tasks from `begin` on that are of one cell, at most one per thread. All threads of the block.
  __device__ TasksOfCell(const RunTask* tasks, std::uint32_t begin, std::uint32_t most) : begin(begin) {
    __shared__ std::uint32_t first_other;
    cell = tasks[begin].cell;
    __syncthreads();
    if (threadIdx.x == 0) first_other = min(begin + warp_block, most);
    __syncthreads();
    const std::uint32_t own = begin + threadIdx.x;
    if (own < most && tasks[own].cell != cell) atomicMin(&first_other, own);
    __syncthreads();
    end = first_other;
  }
};

/// A block takes neighbouring tasks, which are of few cells.
__global__ void __launch_bounds__(warp_block) count_windows(const RunWork work) {
  __shared__ std::uint32_t own_bins[run_bins];
  const RunHead& head = *work.head;
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32, few = warps, least_part = 3 * warps;
  const std::uint32_t part = max((head.listings + gridDim.x - 1) / gridDim.x, least_part);
  const std::uint32_t end = min((blockIdx.x + 1) * part, head.listings);
  for (std::uint32_t begin = blockIdx.x * part; begin < end;) {
    const TasksOfCell tasks(work.listings, begin, end);
    begin = tasks.end;
    std::uint32_t* const bins = work.bins + (tasks.cell - head.level_begin) * run_bins;
    const bool is_few = tasks.end - tasks.begin <= few;
    if (!is_few)
      for (std::uint32_t b = threadIdx.x; b < run_bins; b += warp_block) own_bins[b] = 0;
    __syncthreads();
    for (std::uint32_t t = tasks.begin + threadIdx.x / 32; t < tasks.end; t += warps)
      count_keys(work, work.listings[t], is_few ? bins : own_bins);
    __syncthreads();
    if (is_few) continue;
    for (std::uint32_t b = threadIdx.x; b < run_bins; b += warp_block)
      if (own_bins[b] > 0) atomicAdd(&bins[b], own_bins[b]);
  }
}

template <int threads>
__global__ void __launch_bounds__(threads) narrow_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (is_in_vain(work)) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x)
    if (!work.is_small(work.cells[c]))
      narrow_window<threads>(work, c, work.bins + (c - head.level_begin) * run_bins);
}

__global__ void __launch_bounds__(warp_block) list_windows(const RunWork work) {
  const RunHead& head = *work.head;
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32;
  for (std::uint32_t t = blockIdx.x * warps + threadIdx.x / 32; t < head.listings; t += gridDim.x * warps)
    list_keys(work, work.listings[t]);
}

template <int threads>
__global__ void __launch_bounds__(threads) cut_cells(const RunWork work) {
  const RunHead& head = *work.head;
  if (blockIdx.x == 0 && threadIdx.x == 0) work.head->listings = 0;
  if (is_in_vain(work)) return;
  for (std::uint32_t c = head.level_begin + blockIdx.x; c < head.level_end; c += gridDim.x) {
    if (work.is_small(work.cells[c])) continue;
    const std::uint32_t child = cut_cell<threads>(work, c).child;
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
    head.level_begin = work.first_child + 2 * head.cuts_before;
    head.level_end = work.first_child + 2 * head.cuts;
  }
  if (head.overflow) return;
  constexpr std::uint32_t warps = warp_block / 32;
  for (std::uint32_t t = blockIdx.x * warps + threadIdx.x / 32; t < head.divisions; t += gridDim.x * warps)
    divide_run(work, work.divisions[t]);
}

/// index: of the records of a run. By one warp; sum: shared.
__device__ void add_weights(const std::uint32_t* weights, const RunKeys& index, std::uint32_t count,
                            unsigned long long& sum) {
  unsigned long long own = 0;
#pragma unroll
  for (int row = 0; row < RunKeys::rows; ++row)
    if (32 * row + threadIdx.x % 32 < count) own += weights[index.key[row]];
  own = warp_sum(own);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
}

/// Brings the records of a leaf together. By one block.
template <int threads>
__device__ void gather_leaf(const RunWork& work, std::uint32_t number) {
  __shared__ std::uint32_t place;
  __shared__ unsigned long long weight;
  const RunCell cell = work.cells[number];
  const CellBounds bounds = bounds_of<threads>(work.runs, cell);
  if (threadIdx.x == 0) place = cell.first, weight = 0;
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
      if (c == 3 && work.weights) add_weights(work.weights, values, count, weight);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) work.contents[number] = {bounds, weight};
}

/// Cuts a small cell down to its leaves. The child with fewer leaves is next, so that few cells wait. By one
/// block.
template <int threads>
__device__ void finish_cell(const RunWork& work, std::uint32_t small) {
  __shared__ std::uint32_t waiting[33], bins[run_bins];
  __shared__ int number;
  constexpr std::uint32_t warp_count = threads / 32;
  if (threadIdx.x == 0) waiting[0] = small, number = 1;
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
    if (met.count == 0) return;  // no room: all is in vain
    for (std::uint32_t t = threadIdx.x / 32; t < met.count; t += warp_count)
      count_keys(work, work.listings[met.begin + t], bins);
    narrow_window<threads>(work, c, bins);
    for (std::uint32_t t = threadIdx.x / 32; t < met.count; t += warp_count)
      list_keys(work, work.listings[met.begin + t]);
    __syncthreads();
    const RunCut cut = cut_cell<threads>(work, c);
    if (cut.child == RunCut::none) return;  // no room, or ids that are not unique
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

/// A block per small cell, from this one on, if there are as many blocks.
template <int threads>
__global__ void __launch_bounds__(threads) finish_cells(const RunWork work, std::uint32_t begin) {
  for (std::uint32_t i = begin + blockIdx.x; i < work.head->small_cells; i += gridDim.x) {
    if (is_in_vain(work)) return;
    finish_cell<threads>(work, work.small_cells[i]);
  }
}

/// Levels that cells of so many records have, at least, until all are small.
int levels_until(std::uint64_t count, std::uint64_t small) {
  return count == 0 ? 0 : static_cast<int>(std::bit_width((count - 1) / small));
}

}  // namespace

bool RunDescent::suits(std::span<const OrbCell> roots) {
  std::uint64_t records = 0, leaves = 0;
  for (const OrbCell& root : roots) {
    records += root.count;
    leaves += static_cast<std::uint64_t>(root.leaves);
  }
  return records >= least_records && records / leaves >= least_leaf && records / leaves <= most_leaf;
}

RunWork RunDescent::prepare(std::span<const OrbCell> roots, RunHead& head) {
  std::uint64_t records = 0, leaves = 0, runs = 0;
  for (const OrbCell& root : roots) {
    records += root.count;
    leaves += static_cast<std::uint64_t>(root.leaves);
  }
  records_in_all_ = records;
  RunWork work{};
  work.small_count = small_cell;
  head = {};
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
  const std::uint64_t most_cuts = scheme_.knows_leaves() ? leaves : cuts_per_least * leaves + more_cuts;
  head_ = DeviceArray<RunHead>(std::span<const RunHead>(&head, 1));
  cells_ = DeviceArray<RunCell>(2 * most_cuts + roots.size());
  cells_.upload(cells);
  bins_ = DeviceArray<std::uint32_t>(run_bins * (2 * records / small_cell + roots.size()));
  small_cells_ = DeviceArray<std::uint32_t>(most_cuts + roots.size());
  small_cells_.upload(small);
  for (auto& column : runs_) column = DeviceArray<std::uint32_t>(capacity);
  listings_ = DeviceArray<RunTask>(runs * task_capacity_per_run);
  divisions_ = DeviceArray<RunTask>(runs * task_capacity_per_run);
  cuts_ = DeviceArray<FoundCut>(most_cuts);
  contents_ = DeviceArray<RunContent>(2 * most_cuts + roots.size());
  work.records = records_, work.sorted = sorted_;
  work.ids = ids_, work.scheme = scheme_;
  work.capacity = static_cast<std::uint32_t>(capacity);
  work.task_capacity = static_cast<std::uint32_t>(runs * task_capacity_per_run);
  work.most_cuts = static_cast<std::uint32_t>(most_cuts);
  work.head = head_.data(), work.cells = cells_.data();
  work.runs = {runs_[0].data(),
               runs_[1].data(),
               {runs_[2].data(), runs_[3].data(), runs_[4].data()},
               {runs_[5].data(), runs_[6].data(), runs_[7].data()}};
  work.listings = listings_.data(), work.divisions = divisions_.data();
  work.bins = bins_.data(), work.small_cells = small_cells_.data(), work.cuts = cuts_.data();
  work.contents = contents_.data(), work.weights = weights_;

  Tiles tiles(run_size);
  tiles.make(counts);
  constexpr std::uint32_t warps = warp_block / 32;
  make_runs<<<(tiles.size() + warps - 1) / warps, warp_block>>>(work, tiles.data(), tiles.size());
  launched("Grove::cuda::make_runs", 12 * records);
  check_order(records_, records, &work.head->overflow);
  return work;
}

/// threads: of the blocks that have a cell each; as many of these as there are cells, or fewer.
template <int threads>
void cut_level(const RunWork& work, std::uint32_t blocks) {
  find_windows<threads><<<blocks, threads>>>(work);
  launched("Grove::cuda::find_windows");
  count_windows<<<most_blocks, warp_block>>>(work);
  launched("Grove::cuda::count_windows");
  narrow_windows<threads><<<blocks, threads>>>(work);
  launched("Grove::cuda::narrow_windows");
  list_windows<<<most_blocks, warp_block>>>(work);
  launched("Grove::cuda::list_windows");
  cut_cells<threads><<<blocks, threads>>>(work);
  launched("Grove::cuda::cut_cells");
  divide_runs<<<most_blocks, warp_block>>>(work);
  launched("Grove::cuda::divide_runs");
}

/// Cuts cells that are not small, in levels enough for nearly all. head: as on the device.
void RunDescent::cut_large(const RunWork& work, const RunHead& head) const {
  if (head.most_count == 0) return;
  device_clear(&work.head->listings, sizeof(head.listings));  // those of small cells
  const int levels = levels_until(head.most_count, work.small_count) +
                     (scheme_.is_geometric(head.most_count) ? more_geometric_levels : more_levels);
  std::uint64_t cells = head.level_end - head.level_begin;
  for (int i = 0; i < levels; ++i, cells *= 2)
    if (cells <= few_cells)
      cut_level<large_block>(work, static_cast<std::uint32_t>(cells));
    else
      cut_level<small_block>(work, static_cast<std::uint32_t>(std::min<std::uint64_t>(cells, most_blocks)));
}

/// Leaves small cells to blocks, of which there are enough for all but unusual numbers.
void RunDescent::cut_small(const RunWork& work, std::uint32_t begin) const {
  const std::uint64_t least = records_in_all_ / work.small_count;
  if (least >= few_cells)
    finish_cells<small_block><<<static_cast<unsigned>(2 * least), small_block>>>(work, begin);
  else
    finish_cells<medium_block><<<few_cells, medium_block>>>(work, begin);
  launched("Grove::cuda::finish_cells");
}

/// Cuts of all roots; where these are halved geometrically, some more than there usually are.
std::size_t RunDescent::expected_cuts(std::span<const OrbCell> roots) const {
  std::size_t cuts = 0;
  for (const OrbCell& root : roots) {
    const auto leaves = static_cast<std::size_t>(root.leaves);
    cuts += scheme_.is_geometric(static_cast<Count>(root.count)) ? 2 * leaves : leaves - 1;
  }
  return std::min(cuts, cuts_.size());
}

std::optional<std::vector<RunContent>> RunDescent::run(std::span<const OrbCell> roots, const TakeCut& take) {
  RunHead head;
  const RunWork work = prepare(roots, head);
  std::vector<FoundCut> cuts(expected_cuts(roots));
  std::vector<RunContent> contents;
  std::uint32_t finished = 0;  // small cells
  do {
    cut_large(work, head);
    cut_small(work, finished);
    contents.resize(std::min(roots.size() + 2 * cuts.size(), contents_.size()));
    device_download(std::array{head_.download_to(std::span(&head, 1)), cuts_.download_to(cuts),
                               contents_.download_to(contents)});
    finished = head.small_cells;
  } while (head.most_count > 0 && !head.overflow);
  if (head.overflow) return {};
  const bool are_all = head.cuts <= cuts.size();
  cuts.resize(head.cuts);
  contents.resize(roots.size() + 2 * cuts.size());
  if (!are_all) device_download(std::array{cuts_.download_to(cuts), contents_.download_to(contents)});
  std::for_each(cuts.begin(), cuts.end(), take);
  return contents;
}

}  // namespace grove::cuda
