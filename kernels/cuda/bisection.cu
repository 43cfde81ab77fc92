#include "kernels/cuda/bisection.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "kernels/cuda/bracket_search.cuh"
#include "kernels/cuda/orb_partition.cuh"
#include "kernels/cuda/orb_search.cuh"
#include "kernels/cuda/record_segments.hpp"

namespace grove::cuda {
namespace {

/// Records that a block of the search reads: many, so that clearing and adding up its bins costs little.
constexpr std::uint64_t search_tile = 1u << 17;

/// All levels of some subtrees.
class Levels {
 public:
  Levels(const CutScheme& scheme, std::span<const SubtreeRoot> roots, DeviceRecords& records,
         DeviceRecords& spare, const ParticleId* ids)
      : scheme_(scheme),
        records_{&records, &spare},
        sets_{columns_of(records), columns_of(spare)},
        ids_(ids),
        bracket_search_(sets_, ids, scheme),
        search_(sets_, ids, scheme),
        from_(roots.size(), 0) {
    std::vector<Segment> segments;
    for (const SubtreeRoot& root : roots) {
      cells_.push_back(root.cell);
      place_.push_back(root.first);
      segments.push_back({root.first, static_cast<std::uint64_t>(root.cell.count)});
    }
    std::vector<CellBounds> bounds(roots.size());
    find_bounds(records, segments, bounds);
    for (std::size_t c = 0; c < roots.size(); ++c)
      cells_[c].low = bounds[c].low, cells_[c].high = bounds[c].high;
  }

  void run(PhaseTimers* levels, std::size_t depth) {
    for (std::size_t begin = 0; begin < cells_.size();) {
      const std::size_t end = cells_.size();
      std::vector<std::size_t> wanted;
      for (std::size_t c = begin; c < end; ++c)
        if (!scheme_.is_leaf(cells_[c].count, cells_[c].leaves)) wanted.push_back(c);
      if (!wanted.empty()) {
        std::optional<PhaseTimers::Scope> time;
        if (levels) time.emplace(*levels, level_name(depth++));
        cut(wanted);
      }
      begin = end;
    }
  }

  /// Brings the leaves together in one set; true: in the second one.
  bool gather() {
    Count in_set[2] = {0, 0};
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf()) in_set[from_[c]] += cells_[c].count;
    const int to = in_set[1] > in_set[0] ? 1 : 0;
    std::vector<SegmentCopy> copies;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf() && from_[c] != to)
        copies.push_back({place_[c], static_cast<std::uint64_t>(cells_[c].count), place_[c]});
    copy_segments(*records_[1 - to], *records_[to], copies);
    device_synchronise();
    return to == 1;
  }

  /// In the order of grove::cut_to_leaves(): the pair of children of a cell, then all below the left one,
  /// then all below the right one.
  std::vector<Cell> subtree(std::size_t root) const {
    std::vector<Cell> result = {cells_[root]};
    std::vector<std::size_t> stack = {0};
    while (!stack.empty()) {
      const std::size_t c = stack.back();
      stack.pop_back();
      if (result[c].is_leaf()) continue;
      const auto child = static_cast<std::size_t>(result[c].child);
      const std::size_t place = result.size();
      result[c].child = static_cast<std::int32_t>(place);
      result.push_back(cells_[child]);
      result.push_back(cells_[child + 1]);
      stack.push_back(place + 1);
      stack.push_back(place);
    }
    return result;
  }

 private:
  CellTask task_of(std::size_t c) const {
    const Cell& cell = cells_[c];
    CellTask task{};
    task.first = place_[c];
    task.count = task.inside = static_cast<std::uint64_t>(cell.count);
    task.leaves = cell.leaves;
    task.axis = longest_axis(cell.low, cell.high);
    task.low = task.key_first = cell.low[task.axis];
    task.high = task.key_last = cell.high[task.axis];
    task.from = from_[c];
    return task;
  }

  void cut(const std::vector<std::size_t>& wanted) {
    tasks_.clear();
    counts_.clear();
    for (const std::size_t c : wanted) {
      tasks_.push_back(task_of(c));
      counts_.push_back(tasks_.back().count);
    }
    partition_tiles_.make(counts_);
    device_tasks_.reserve(tasks_.size());
    bounds_.reserve(tasks_.size());
    search();
    partition_.run(sets_, ids_, device_tasks_.data(), partition_tiles_, left_.before(), bounds_.data());
    device_tasks_.download(tasks_);
    host_bounds_.resize(tasks_.size());
    bounds_.download(host_bounds_);
    for (std::size_t i = 0; i < wanted.size(); ++i) add_children(wanted[i], tasks_[i], host_bounds_[i]);
  }

  /// A few large cells are searched in one pass; if that fails, and small ones, in two or three.
  void search() {
    constexpr std::uint64_t large = 1u << 17;
    const std::uint64_t mean = partition_tiles_.records() / tasks_.size();
    device_tasks_.upload(tasks_);
    if (mean >= large) {
      if (bracket_search_.run(tasks_, device_tasks_.data(), partition_tiles_, left_)) return;
      device_tasks_.upload(tasks_);
    }
    search_tiles_.make(counts_);
    search_.run(device_tasks_.data(), search_tiles_, partition_tiles_, mean, left_);
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
      children[side].low = bounds.of(side).low;
      children[side].high = bounds.of(side).high;
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
    place_.insert(place_.end(), {task.first, task.first + task.left});
  }

  CutScheme scheme_;
  DeviceRecords* records_[2];
  Columns sets_[2];
  const ParticleId* ids_;
  BracketSearch bracket_search_;
  OrbSearch search_;
  LeftCounts left_;
  OrbPartition partition_;
  std::vector<Cell> cells_;           ///< breadth-first
  std::vector<std::int32_t> from_;    ///< by cell: the set that holds its records,
  std::vector<std::uint64_t> place_;  ///< and where in it
  Tiles search_tiles_{search_tile}, partition_tiles_{OrbPartition::tile_size};
  std::vector<CellTask> tasks_;
  std::vector<std::uint64_t> counts_;
  std::vector<ChildBounds> host_bounds_;
  DeviceArray<CellTask> device_tasks_;
  DeviceArray<ChildBounds> bounds_;
};

}  // namespace

std::vector<std::vector<Cell>> cut_to_leaves(const CutScheme& scheme, std::span<const SubtreeRoot> roots,
                                             DeviceRecords& records, DeviceRecords& spare,
                                             const ParticleId* ids, PhaseTimers* levels, std::size_t depth) {
  Levels all(scheme, roots, records, spare, ids);
  all.run(levels, depth);
  std::vector<std::vector<Cell>> subtrees;
  for (std::size_t root = 0; root < roots.size(); ++root) subtrees.push_back(all.subtree(root));
  if (all.gather()) std::swap(records, spare);
  return subtrees;
}

}  // namespace grove::cuda
