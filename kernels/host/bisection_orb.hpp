#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "kernels/host/bisection_blocks.hpp"
#include "kernels/host/bisection_columns.hpp"
#include "kernels/host/bisection_search.hpp"
#include "kernels/host/weighted_prefix.hpp"
#include "kernels/math/leaf_numbers.hpp"

/// From a cell down to the leaves of the ORB: cells exceed the caches, and near a concentration many cuts
/// only peel off a few particles. So coordinates are kept by axis: a cut reads one axis, and moves as few
/// particles as it can.
namespace grove::bisection {

template <class Simd>
class OrbBisection {
 public:
  OrbBisection(const CutScheme& scheme, std::span<Record> records, const ParticleId* id,
               const std::uint32_t* weight, std::vector<Cell>& cells)
      : scheme_(scheme),
        records_(records),
        id_(id),
        weight_(weight),
        cells_(cells),
        columns_(records.size()),
        scratch_(Columns::scratch_size(records.size())) {
    columns_.template unpack<Simd>(0, records);
    blocks_.emplace(columns_, records.size());
  }

  /// Cuts the root.
  void cut_root() { cut(0, 0, blocks_->bounds(0, records_.size()), true); }

 private:
  /// Cuts the cell of this index, whose count, weight (`halves`) and leaves are known, and whose particles
  /// begin at `begin`. But for `halves` weights are summed from the leaves upwards. ordered: blocks_ holds
  /// for these particles, and seems to help.
  void cut(std::size_t index, std::size_t begin, const Bounds& bounds, bool ordered) {
    Cell cell = cells_[index];
    const auto count = static_cast<std::size_t>(cell.count);
    cell.low = bounds.low_corner();
    cell.high = bounds.high_corner();
    cell.cut = {0, 0, -1};
    cell.child = -1;
    if (scheme_.is_leaf(cell.count, cell.leaves)) {
      columns_.pack(begin, records_.subspan(begin, count));
      if (scheme_.rule != CutRule::halves) cell.weight = weigh(begin, count);
      cells_[index] = cell;
      return;
    }
    const int axis = scheme_.axis(cell.low, cell.high, cell.count);
    const Parts parts = divide(cell, begin, axis, bounds, ordered);
    cell.cut = cut_before(begin + parts.left, count - parts.left, axis, parts.right_bounds, ordered);
    cell.child = add_children(cell, begin, parts.left);
    cells_[index] = cell;
    const auto child = static_cast<std::size_t>(cell.child);
    cut(child, begin, parts.left_bounds, ordered);
    cut(child + 1, begin + parts.left, parts.right_bounds, ordered);
    cells_[index].weight = cells_[child].weight + cells_[child + 1].weight;
  }

  Parts divide(const Cell& cell, std::size_t begin, int axis, const Bounds& bounds, bool& ordered) {
    const auto count = static_cast<std::size_t>(cell.count);
    const Coordinate* const keys = columns_.axis(axis) + begin;
    const auto select = [&](Coordinate low, Coordinate high, Coordinate* selected) {
      return ordered ? blocks_->template select<Simd>(axis, begin, count, low, high, selected)
                     : Simd::select(keys, count, low, high, selected);
    };
    SearchWindow<Simd, decltype(select)> window(keys, count, bounds.low[axis], bounds.high[axis],
                                                scratch_.data(), select);
    Count left_of_middle = 0;
    if (scheme_.needs_middle())
      left_of_middle = window.count_left_of(scheme_.middle(bounds.low[axis], bounds.high[axis], cell.count),
                                            scheme_.rounding(cell.count) / 2);
    const CutTarget target = scheme_.target(cell.count, cell.weight, cell.leaves, left_of_middle);
    const auto k = static_cast<std::size_t>(longest_prefix(target, begin, count, axis));
    const Bracket b = window.search(k);
    if (!b.splits(k)) {
      ordered = false;
      return divide_equal(begin, count, k, axis);
    }
    const auto threshold = static_cast<Coordinate>(b.low);
    if (ordered)
      if (const auto parts =
              blocks_->template partition<Simd>(begin, count, k, axis, threshold, scratch_.data()))
        return *parts;
    ordered = false;
    return columns_.template partition<Simd>(begin, count, k, axis, threshold, bounds, scratch_.data());
  }

  /// The place of the cut between equal coordinates.
  Parts divide_equal(std::size_t begin, std::size_t count, std::size_t k, int axis) {
    const auto records = records_.subspan(begin, count);
    columns_.pack(begin, records);
    const Parts parts = divide_ties<Simd>(records, k, axis, id_);
    columns_.template unpack<Simd>(begin, records);
    return parts;
  }

  Count longest_prefix(const CutTarget& target, std::size_t begin, std::size_t count, int axis) {
    if (target.is_exact() || !weight_) return target.longest();
    const auto records = records_.subspan(begin, count);
    columns_.pack(begin, records);
    return weighted_prefix(target, records, axis, id_, weight_);
  }

  /// The cut whose right part is this: its least element.
  Cut cut_before(std::size_t begin, std::size_t count, int axis, const Bounds& bounds, bool ordered) const {
    Cut cut{~ParticleId{0}, bounds.low[axis], axis};
    const std::uint32_t* const index = columns_.axis(3) + begin;
    const auto visit = [&](std::size_t i) { cut.id = std::min(cut.id, id_[index[i]]); };
    if (ordered)
      blocks_->template for_each_equal<Simd>(axis, begin, count, cut.coordinate, visit);
    else
      Simd::for_each_equal(columns_.axis(axis) + begin, count, cut.coordinate, visit);
    return cut;
  }

  std::int32_t add_children(const Cell& cell, std::size_t begin, std::size_t left_count) {
    const auto leaves = scheme_.child_leaves(cell.leaves, cell.count, static_cast<Count>(left_count));
    Cell left{}, right{};
    left.first = cell.first;
    left.count = static_cast<Count>(left_count);
    left.first_leaf = cell.first_leaf;
    left.leaves = leaves.left;
    right.first = cell.first + left.count;
    right.count = cell.count - left.count;
    right.first_leaf = cell.first_leaf + left.leaves;
    right.leaves = leaves.right;
    if (scheme_.rule == CutRule::halves) {
      left.weight = weigh(begin, left_count);
      right.weight = cell.weight - left.weight;
    }
    cells_.push_back(left);
    cells_.push_back(right);
    return static_cast<std::int32_t>(cells_.size()) - 2;
  }

  Count weigh(std::size_t begin, std::size_t count) const {
    if (!weight_) return static_cast<Count>(count);
    const std::uint32_t* const index = columns_.axis(3) + begin;
    Count sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weight_[index[i]];
    return sum;
  }

  CutScheme scheme_;
  std::span<Record> records_;
  const ParticleId* id_;
  const std::uint32_t* weight_;
  std::vector<Cell>& cells_;
  Columns columns_;
  std::optional<Blocks> blocks_;
  Array<std::uint32_t> scratch_;
};

/// cut_to_leaves() over the passes of Simd.
template <class Simd>
std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight) {
  std::vector<Cell> cells{root};
  cells.reserve(2 * static_cast<std::size_t>(root.leaves));
  OrbBisection<Simd>(scheme, records, id, weight, cells).cut_root();
  if (!scheme.knows_leaves()) number_leaves(cells);
  return cells;
}

}  // namespace grove::bisection
