#include "kernels/cuda/bisection.hpp"

#include <algorithm>
#include <string>

#include "base/errors.hpp"
#include "kernels/cuda/check.cuh"
#include "kernels/cuda/orb_partition.cuh"
#include "kernels/cuda/orb_search.cuh"

namespace grove::cuda {
namespace {

/// Records that a block of the search reads: many, so that clearing and adding up its bins costs little.
constexpr std::uint64_t search_tile = 1u << 17;

Columns columns_of(const DeviceRecords& records) {
  Columns columns;
  for (int c = 0; c < 4; ++c) columns.at[c] = records.columns[static_cast<std::size_t>(c)].data();
  return columns;
}

__global__ void __launch_bounds__(256)
    find_bounds(const Columns columns, std::uint64_t count, ChildBounds* bounds) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto* const vectors = reinterpret_cast<const uint4*>(columns.at[axis]);
    Coordinate low = ~0u, high = 0;
    const auto include = [&](Coordinate c) { low = min(low, c), high = max(high, c); };
    const std::uint64_t thread = blockIdx.x * 256 + threadIdx.x, threads = gridDim.x * 256;
#pragma unroll 4
    for (std::uint64_t i = thread; i < count / 4; i += threads) {
      const uint4 v = __ldcs(vectors + i);
      include(v.x), include(v.y), include(v.z), include(v.w);
    }
    if (thread < count % 4) include(columns.at[axis][count / 4 * 4 + thread]);
    low = __reduce_min_sync(~0u, low);
    high = __reduce_max_sync(~0u, high);
    if (threadIdx.x % 32 != 0) continue;
    atomicMin(&bounds->low[0][axis], low);
    atomicMax(&bounds->high[0][axis], high);
  }
}

void set_bounds(const DeviceRecords& records, Cell& cell) {
  constexpr unsigned blocks = 2048;
  constexpr Coordinate most = ~Coordinate{0};
  ChildBounds host{{{most, most, most}, {most, most, most}}, {}};
  const DeviceArray<ChildBounds> bounds{std::span<const ChildBounds>(&host, 1)};
  find_bounds<<<blocks, 256>>>(columns_of(records), static_cast<std::uint64_t>(cell.count), bounds.data());
  GROVE_CUDA_LAUNCHED("Grove::cuda::find_bounds");
  bounds.download(std::span(&host, 1));
  cell.low = {host.low[0][0], host.low[0][1], host.low[0][2]};
  cell.high = {host.high[0][0], host.high[0][1], host.high[0][2]};
}

/// Copies the cells that lie in the other set of columns.
__global__ void copy_cells(const Columns from, const Columns to, const CellTask* tasks, const Tile* tiles,
                           std::uint64_t tile_size) {
  const Tile tile = tiles[blockIdx.x];
  const CellTask& task = tasks[tile.task];
  const std::uint64_t begin = task.first + tile.number * tile_size;
  const std::uint64_t end = min(begin + tile_size, task.first + task.count);
  for (int c = 0; c < 4; ++c)
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) to.at[c][i] = from.at[c][i];
}

/// The levels of one bisection.
class Levels {
 public:
  Levels(const CutScheme& scheme, const Cell& root, DeviceRecords& records, DeviceRecords& spare,
         const ParticleId* ids, PhaseTimers* timers)
      : scheme_(scheme),
        timers_(timers),
        sets_{columns_of(records), columns_of(spare)},
        ids_(ids),
        search_(sets_, ids, scheme),
        cells_{root},
        from_{0} {
    set_bounds(records, cells_[0]);
    first_ = root.first;
  }

  void run() {
    for (std::size_t begin = 0; begin < cells_.size();) {
      const std::size_t end = cells_.size();
      std::vector<std::size_t> wanted;
      for (std::size_t c = begin; c < end; ++c)
        if (!scheme_.is_leaf(cells_[c].count, cells_[c].leaves)) wanted.push_back(c);
      cut(wanted);
      begin = end;
    }
  }
  const std::vector<Cell>& cells() const { return cells_; }

  /// Brings the leaves together in one set; true: in the second one.
  bool gather() {
    Count in_second = 0;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf() && from_[c] == 1) in_second += cells_[c].count;
    const int to = 2 * in_second > cells_[0].count ? 1 : 0;
    tasks_.clear();
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf() && from_[c] != to) tasks_.push_back(task_of(c));
    if (!tasks_.empty()) {
      upload(copy_tiles_);
      copy_cells<<<copy_tiles_.size(), 256>>>(sets_[1 - to], sets_[to], device_tasks_.data(),
                                              copy_tiles_.data(), copy_tiles_.tile_size());
      GROVE_CUDA_LAUNCHED("Grove::cuda::copy_cells");
    }
    device_synchronise();
    return to == 1;
  }

 private:
  CellTask task_of(std::size_t c) const {
    const Cell& cell = cells_[c];
    CellTask task{};
    task.first = static_cast<std::uint64_t>(cell.first - first_);
    task.count = task.inside = static_cast<std::uint64_t>(cell.count);
    task.leaves = cell.leaves;
    task.axis = longest_axis(cell.low, cell.high);
    task.low = task.key_first = cell.low[task.axis];
    task.high = task.key_last = cell.high[task.axis];
    task.from = from_[c];
    return task;
  }

  template <class Work>
  void timed(const char* phase, const Work& work) {
    if (!timers_) return work();
    device_synchronise();
    const auto timer = timers_->time(phase);
    work();
    device_synchronise();
  }

  /// Brings tasks_ and their tiles to the device.
  void upload(Tiles& tiles) {
    counts_.clear();
    for (const CellTask& task : tasks_) counts_.push_back(task.count);
    device_tasks_.reserve(tasks_.size());
    device_tasks_.upload(tasks_);
    tiles.make(counts_);
  }

  void cut(const std::vector<std::size_t>& wanted) {
    if (wanted.empty()) return;
    tasks_.clear();
    std::uint64_t records = 0;
    for (const std::size_t c : wanted) {
      tasks_.push_back(task_of(c));
      records += tasks_.back().count;
    }
    upload(search_tiles_);
    partition_tiles_.make(counts_);
    bounds_.reserve(tasks_.size());
    timed("search", [&] {
      search_.run(device_tasks_.data(), search_tiles_, partition_tiles_, records / tasks_.size());
    });
    timed("partition", [&] {
      partition_.run(sets_, ids_, device_tasks_.data(), partition_tiles_, search_.left_before(),
                     bounds_.data());
    });
    device_tasks_.download(tasks_);
    host_bounds_.resize(tasks_.size());
    bounds_.download(host_bounds_);
    for (std::size_t i = 0; i < wanted.size(); ++i) add_children(wanted[i], tasks_[i], host_bounds_[i]);
  }

  void add_children(std::size_t c, const CellTask& task, const ChildBounds& bounds) {
    if (task.is_ambiguous)
      throw InputError("particle id " + std::to_string(task.cut.id) +
                       " occurs more than once: ids must be unique");
    cells_[c].cut = task.cut;
    cells_[c].child = static_cast<std::int32_t>(cells_.size());
    const Cell parent = cells_[c];
    Cell children[2];
    for (int side = 0; side < 2; ++side) {
      children[side].low = {bounds.low[side][0], bounds.low[side][1], bounds.low[side][2]};
      children[side].high = {bounds.high[side][0], bounds.high[side][1], bounds.high[side][2]};
    }
    Cell &left = children[0], &right = children[1];
    left.count = left.weight = static_cast<Count>(task.left);
    right.count = right.weight = parent.count - left.count;
    left.first = parent.first;
    right.first = parent.first + left.count;
    left.leaves = scheme_.left_leaves(parent.leaves, left.count);
    right.leaves = parent.leaves - left.leaves;
    left.first_leaf = parent.first_leaf;
    right.first_leaf = parent.first_leaf + left.leaves;
    cells_.insert(cells_.end(), {left, right});
    from_.insert(from_.end(), 2, 1 - task.from);
  }

  CutScheme scheme_;
  PhaseTimers* timers_;
  Columns sets_[2];
  const ParticleId* ids_;
  OrbSearch search_;
  OrbPartition partition_;
  std::vector<Cell> cells_;         ///< breadth-first
  std::vector<std::int32_t> from_;  ///< by cell: the set that holds its records
  Count first_ = 0;
  Tiles search_tiles_{search_tile}, partition_tiles_{OrbPartition::tile_size}, copy_tiles_{1u << 14};
  std::vector<CellTask> tasks_;
  std::vector<std::uint64_t> counts_;
  std::vector<ChildBounds> host_bounds_;
  DeviceArray<CellTask> device_tasks_;
  DeviceArray<ChildBounds> bounds_;
};

/// From breadth-first order to that of grove::cut_to_leaves(): the pair of children of a cell, then all below
/// the left one, then all below the right one.
std::vector<Cell> depth_first(const std::vector<Cell>& cells) {
  std::vector<Cell> result = {cells[0]};
  std::vector<std::size_t> stack = {0};
  while (!stack.empty()) {
    const std::size_t c = stack.back();
    stack.pop_back();
    if (result[c].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(result[c].child);
    const std::size_t place = result.size();
    result[c].child = static_cast<std::int32_t>(place);
    result.push_back(cells[child]);
    result.push_back(cells[child + 1]);
    stack.push_back(place + 1);
    stack.push_back(place);
  }
  return result;
}

}  // namespace

std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, DeviceRecords& records,
                                DeviceRecords& spare, const ParticleId* ids, PhaseTimers* timers) {
  Levels levels(scheme, root, records, spare, ids, timers);
  levels.run();
  if (levels.gather()) std::swap(records, spare);
  return depth_first(levels.cells());
}

}  // namespace grove::cuda
