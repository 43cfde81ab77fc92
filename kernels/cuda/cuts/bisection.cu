#include "kernels/cuda/cuts/bisection.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "kernels/cuda/cuts/levels/bracket_search.cuh"
#include "kernels/cuda/cuts/levels/orb_descent.cuh"
#include "kernels/cuda/cuts/levels/orb_search.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/cuts/partition/record_segments.hpp"
#include "kernels/cuda/cuts/runs/run_descent.cuh"
#include "kernels/math/leaf_numbers.hpp"

namespace grove::cuda {
namespace {

/// Records that a block of the search reads: many, so that clearing and adding up its bins costs little.
constexpr std::uint64_t search_tile = 1u << 17;

/// Cuts the huge cells of a level, all at once, with the help of the host.
class HugeCuts {
 public:
  HugeCuts(const Columns (&sets)[2], const ParticleId* ids, const CutScheme& scheme)
      : sets_{sets[0], sets[1]},
        ids_(ids),
        scheme_(scheme),
        bracket_search_(sets, ids, scheme),
        search_(sets, ids, scheme) {}

  std::vector<FoundCut> run(const std::vector<OrbCell>& cells) {
    tasks_.clear();
    counts_.clear();
    for (const OrbCell& cell : cells) {
      tasks_.push_back(task_of(cell, scheme_));
      counts_.push_back(cell.count);
    }
    partition_tiles_.make(counts_);
    device_tasks_.reserve(tasks_.size());
    bounds_.reserve(tasks_.size());
    search();
    partition_.run(sets_, ids_, device_tasks_.data(), partition_tiles_, left_.before(), bounds_.data());
    device_tasks_.download(tasks_);
    host_bounds_.resize(tasks_.size());
    bounds_.download(host_bounds_);
    std::vector<FoundCut> found;
    for (std::size_t i = 0; i < cells.size(); ++i)
      found.push_back(
          {tasks_[i].cut, tasks_[i].left, host_bounds_[i], cells[i].number, tasks_[i].is_ambiguous});
    return found;
  }

 private:
  /// In one pass; if that fails, in two or three.
  void search() {
    device_tasks_.upload(tasks_);
    if (bracket_search_.run(tasks_, device_tasks_.data(), partition_tiles_, left_)) return;
    device_tasks_.upload(tasks_);
    search_tiles_.make(counts_);
    search_.run(device_tasks_.data(), search_tiles_, partition_tiles_, left_);
  }

  Columns sets_[2];
  const ParticleId* ids_;
  CutScheme scheme_;
  BracketSearch bracket_search_;
  OrbSearch search_;
  LeftCounts left_;
  OrbPartition partition_;
  Tiles search_tiles_{search_tile}, partition_tiles_{OrbPartition::tile_size};
  std::vector<CellTask> tasks_;
  std::vector<std::uint64_t> counts_;
  std::vector<ChildBounds> host_bounds_;
  DeviceArray<CellTask> device_tasks_;
  DeviceArray<ChildBounds> bounds_;
};

/// All levels of some subtrees.
class Levels {
 public:
  Levels(const CutScheme& scheme, std::span<const SubtreeRoot> roots, DeviceRecords& records,
         DeviceRecords& spare, const ParticleId* ids, const std::uint32_t* weights)
      : scheme_(scheme),
        records_{&records, &spare},
        sets_{columns_of(records), columns_of(spare)},
        ids_(ids),
        weights_(weights),
        from_(roots.size(), 0) {
    std::size_t cells = 0;
    for (const SubtreeRoot& root : roots) cells += cells_below(root.cell);
    cells_.reserve(cells), from_.reserve(cells), place_.reserve(cells);
    for (const SubtreeRoot& root : roots) {
      cells_.push_back(root.cell);
      place_.push_back(root.first);
    }
  }

  void run(PhaseTimers* levels, std::size_t depth) {
    if (cut_runs(levels, depth)) return;
    find_root_bounds();
    depth = cut_huge(levels, depth);
    std::vector<OrbCell> rest;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (is_wanted(c)) rest.push_back(orb_cell(c));
    const auto first_child = static_cast<std::int32_t>(cells_.size());
    OrbDescent(sets_, ids_, scheme_)
        .run(
            rest, first_child, [&](const FoundCut& cut) { add_children(cut); }, levels, depth);
  }

  /// Brings the leaves together in one set, and weighs all cells. True: in the second set. They may still be
  /// on their way.
  bool gather() {
    const bool in_second = is_gathered_ || gather_leaves();
    if (!weights_) return in_second;
    if (!is_gathered_) weigh_leaves(*records_[in_second ? 1 : 0]);
    for (std::size_t c = cells_.size(); c-- > 0;)
      if (const auto child = static_cast<std::size_t>(cells_[c].child); !cells_[c].is_leaf())
        cells_[c].weight = cells_[child].weight + cells_[child + 1].weight;
    return in_second;
  }
  /// In the order of grove::cut_to_leaves(): the pair of children of a cell, then all below the left one,
  /// then all below the right one.
  std::vector<Cell> subtree(std::size_t root) const {
    std::vector<Cell> result;
    result.reserve(cells_below(cells_[root]));
    result.push_back(cells_[root]);
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
    if (!scheme_.knows_leaves()) number_leaves(result);
    return result;
  }

 private:
  /// With the cell itself; the least that there can be.
  static std::size_t cells_below(const Cell& cell) { return 2 * static_cast<std::size_t>(cell.leaves) - 1; }

  /// True if a cell is still to be cut.
  bool is_wanted(std::size_t c) const {
    return cells_[c].is_leaf() && !scheme_.is_leaf(cells_[c].count, cells_[c].leaves);
  }

  OrbCell orb_cell(std::size_t c) const {
    const Cell& cell = cells_[c];
    return {place_[c],
            static_cast<std::uint64_t>(cell.count),
            {cell.low, cell.high},
            static_cast<std::int32_t>(cell.leaves),
            from_[c],
            static_cast<std::int32_t>(c)};
  }

  /// All cells, if that is the way to do it.
  bool cut_runs(PhaseTimers* levels, std::size_t depth) {
    std::vector<OrbCell> roots;
    for (std::size_t c = 0; c < cells_.size(); ++c) roots.push_back(orb_cell(c));
    RunDescent descent(sets_[0], sets_[1], ids_, weights_, scheme_);
    if (!descent.suits(roots)) return false;
    std::optional<PhaseTimers::Scope> time;
    if (levels) time.emplace(*levels, level_name(depth));
    const std::vector<Cell> begin = cells_;
    const auto contents = descent.run(roots, [&](const FoundCut& cut) { add_children(cut); });
    if (!contents) {
      std::copy(begin.begin(), begin.end(), cells_.begin());
      cells_.resize(begin.size()), from_.resize(begin.size()), place_.resize(begin.size());
      return false;
    }
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const auto& [bounds, weight] = (*contents)[c];
      cells_[c].low = bounds.low, cells_[c].high = bounds.high;
      if (weights_) cells_[c].weight = weight;
    }
    return is_gathered_ = true;
  }

  /// Into the set that has more of them; true: the second one.
  bool gather_leaves() {
    Count in_set[2] = {0, 0};
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf()) in_set[from_[c]] += cells_[c].count;
    const int to = in_set[1] > in_set[0] ? 1 : 0;
    std::vector<SegmentCopy> copies;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf() && from_[c] != to)
        copies.push_back({place_[c], static_cast<std::uint64_t>(cells_[c].count), place_[c]});
    copy_segments(*records_[1 - to], *records_[to], copies);
    return to == 1;
  }

  void weigh_leaves(const DeviceRecords& records) {
    std::vector<Segment> leaves;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      if (cells_[c].is_leaf()) leaves.push_back({place_[c], static_cast<std::uint64_t>(cells_[c].count)});
    std::vector<Count> weight(leaves.size());
    sum_weights(records, weights_, leaves, weight);
    auto next = weight.begin();
    for (Cell& cell : cells_)
      if (cell.is_leaf()) cell.weight = *next++;
  }

  void find_root_bounds() {
    std::vector<Segment> segments;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      segments.push_back({place_[c], static_cast<std::uint64_t>(cells_[c].count)});
    std::vector<CellBounds> bounds(cells_.size());
    find_bounds(*records_[0], segments, bounds);
    for (std::size_t c = 0; c < cells_.size(); ++c)
      cells_[c].low = bounds[c].low, cells_[c].high = bounds[c].high;
  }

  /// Cells that are too large for OrbDescent, level by level. Returns the depth of what remains.
  std::size_t cut_huge(PhaseTimers* levels, std::size_t depth) {
    HugeCuts huge(sets_, ids_, scheme_);
    for (std::size_t begin = 0; begin < cells_.size();) {
      const std::size_t end = cells_.size();
      std::vector<OrbCell> wanted;
      for (std::size_t c = begin; c < end; ++c)
        if (is_wanted(c) && cells_[c].count > static_cast<Count>(OrbDescent::most_records))
          wanted.push_back(orb_cell(c));
      if (!wanted.empty()) {
        std::optional<PhaseTimers::Scope> time;
        if (levels) time.emplace(*levels, level_name(depth++));
        for (const FoundCut& cut : huge.run(wanted)) add_children(cut);
      }
      begin = end;
    }
    return depth;
  }

  void add_children(const FoundCut& found) {
    if (found.is_ambiguous)
      throw InputError("particle id " + std::to_string(found.cut.id) +
                       " occurs more than once: ids must be unique");
    const auto c = static_cast<std::size_t>(found.cell);
    cells_[c].cut = found.cut;
    cells_[c].child = static_cast<std::int32_t>(cells_.size());
    const Cell parent = cells_[c];
    Cell children[2];
    for (int side = 0; side < 2; ++side) {
      children[side].low = found.bounds.of(side).low;
      children[side].high = found.bounds.of(side).high;
    }
    Cell &left = children[0], &right = children[1];
    left.count = left.weight = static_cast<Count>(found.left);
    right.count = right.weight = parent.count - left.count;
    left.first = parent.first;
    right.first = parent.first + left.count;
    const auto leaves = scheme_.child_leaves(parent.leaves, parent.count, left.count);
    left.leaves = leaves.left;
    right.leaves = leaves.right;
    left.first_leaf = parent.first_leaf;
    right.first_leaf = parent.first_leaf + left.leaves;
    cells_.insert(cells_.end(), {left, right});
    from_.insert(from_.end(), 2, 1 - from_[c]);
    place_.insert(place_.end(), {place_[c], place_[c] + found.left});
  }

  CutScheme scheme_;
  DeviceRecords* records_[2];
  Columns sets_[2];
  const ParticleId* ids_;
  const std::uint32_t* weights_;
  std::vector<Cell> cells_;           ///< pairs of children, parents before them
  std::vector<std::int32_t> from_;    ///< by cell: the set that holds its records,
  std::vector<std::uint64_t> place_;  ///< and where in it
  bool is_gathered_ = false;          ///< all leaves are in the second set, and have their weights
};

}  // namespace

std::vector<std::vector<Cell>> cut_to_leaves(const CutScheme& scheme, std::span<const SubtreeRoot> roots,
                                             DeviceRecords& records, DeviceRecords& spare,
                                             const ParticleId* ids, const std::uint32_t* weights,
                                             PhaseTimers* levels, std::size_t depth) {
  Levels all(scheme, roots, records, spare, ids, weights);
  all.run(levels, depth);
  const bool in_spare = all.gather();
  std::vector<std::vector<Cell>> subtrees;
  for (std::size_t root = 0; root < roots.size(); ++root) subtrees.push_back(all.subtree(root));
  if (in_spare) std::swap(records, spare);
  return subtrees;
}

}  // namespace grove::cuda
