#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "kernels/kokkos/bisection_portable.hpp"
#include "kernels/kokkos/weighted_prefix.hpp"

/// The search for a cut and the descent, written once over the passes of Portable or Avx512.
namespace grove::bisection {

/// Working memory for cells of up to `count` records.
template <class Simd>
struct Scratch {
  explicit Scratch(std::size_t count)
      : keys(count + Simd::padding), selected(count + Simd::padding), records(count + Simd::padding) {}
  Array<Coordinate> keys, selected;
  Array<Record> records;
};

/// The order of particles on an axis.
struct Before {
  int axis;
  const ParticleId* id;
  bool operator()(const Record& a, const Record& b) const {
    return a[axis] != b[axis] ? a[axis] < b[axis] : id[a.index] < id[b.index];
  }
};

/// Where the k-th key (from 0) of a set lies: among those in [low, high), of which `below` are less than low
/// and `upto` less than high; below <= k < upto, or k == below and exactly k keys are less than low.
struct Bracket {
  std::uint64_t low, high;
  std::size_t below, upto;
  bool splits(std::size_t k) const { return below == k; }
};

/// Narrows a bracket until exactly k keys are less than its low end, or it holds keys of one value only that
/// lie on either side of the cut.
///
/// Interpolation on the counts at both ends, which takes few steps because the keys inside a cell are spread
/// evenly on scales of a few particles; every third step halves the interval, which bounds the number of
/// steps whatever the distribution. `keys` may be overwritten (scratch `selected`), because later steps only
/// look at keys inside the bracket.
template <class Simd>
Bracket narrow(Bracket b, std::size_t k, const Coordinate* keys, std::size_t count, Coordinate* selected) {
  std::size_t offset = 0;  // keys below the bracket that are no longer in the array
  for (int step = 1; !b.splits(k) && b.high - b.low > 1; ++step) {
    if (count > 256 && (b.upto - b.below) * 4 < count) {
      count = Simd::select(keys, count, static_cast<Coordinate>(b.low), static_cast<Coordinate>(b.high - 1),
                           selected);
      keys = selected;
      offset = b.below;
    }
    const std::uint64_t width = b.high - b.low;
    std::uint64_t t = b.low + (step % 3 == 0 ? width / 2 : width * (k - b.below) / (b.upto - b.below));
    t = std::clamp(t, b.low + 1, b.high - 1);
    const std::size_t less = offset + Simd::count_less(keys, count, static_cast<Coordinate>(t));
    if (less <= k) {
      b.low = t;
      b.below = less;
    } else {
      b.high = t;
      b.upto = less;
    }
  }
  return b;
}

/// Puts the first k records of the order on the left, whatever the ties.
template <class Simd>
Parts divide_ties(std::span<Record> records, std::size_t k, int axis, const ParticleId* id) {
  const auto middle = records.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(records.begin(), middle, records.end(), Before{axis, id});
  return {k, Simd::bounds(records.data(), k), Simd::bounds(records.data() + k, records.size() - k)};
}

/// The division of one cell on its longest axis.
template <class Simd>
class Division {
 public:
  Division(std::span<Record> records, const Bounds& bounds, Scratch<Simd>& scratch)
      : records_(records),
        scratch_(scratch),
        axis_(bounds.longest_axis()),
        low_(bounds.low[axis_]),
        high_(bounds.high[axis_]),
        middle_(spatial_middle(low_, high_)) {
    Simd::extract(records.data(), records.size(), axis_, scratch.keys.data());
    left_of_middle_ = Simd::count_less(scratch.keys.data(), records.size(), middle_);
  }

  int axis() const { return axis_; }
  Count left_of_middle() const { return static_cast<Count>(left_of_middle_); }

  /// Puts the first `left` records of the order on the left.
  Parts take(Count left, const ParticleId* id) const {
    const auto k = static_cast<std::size_t>(left);
    const Bracket start = left_of_middle_ <= k
                              ? Bracket{middle_, std::uint64_t{high_} + 1, left_of_middle_, records_.size()}
                              : Bracket{low_, middle_, 0, left_of_middle_};
    const Bracket b = narrow<Simd>(start, k, scratch_.keys.data(), records_.size(), scratch_.selected.data());
    if (!b.splits(k)) return divide_ties<Simd>(records_, k, axis_, id);
    return Simd::partition(records_.data(), records_.size(), axis_, static_cast<Coordinate>(b.low),
                           scratch_.records.data());
  }

 private:
  std::span<Record> records_;
  Scratch<Simd>& scratch_;
  int axis_;
  Coordinate low_, high_, middle_;
  std::size_t left_of_middle_;
};

/// The bisection of one leaf.
template <class Simd>
class LeafBisection {
 public:
  LeafBisection(Record* records, const ParticleId* id, LocalCell* cells, Scratch<Simd>& scratch)
      : records_(records), id_(id), cells_(cells), scratch_(scratch) {}

  /// Cuts the cell `self` of records [first, first + count); its descendants are stored from `child` on.
  void cut(std::int32_t first, std::int32_t count, std::int32_t self, std::int32_t child,
           const Bounds& bounds) {
    const bool bucket = count <= bucket_size;
    cells_[self] = {bounds.low_corner(), bounds.high_corner(), first, count, bucket ? -1 : child};
    if (bucket) return sort_bucket(first, count);
    const Parts parts = divide(first, count, bounds);
    const auto left = static_cast<std::int32_t>(parts.left);
    cut(first, left, child, child + 2, parts.left_bounds);
    cut(first + left, count - left, child + 1, child + 1 + local_cells(left), parts.right_bounds);
  }

 private:
  Parts divide(std::int32_t first, std::int32_t count, const Bounds& bounds) {
    const Division<Simd> division({records_ + first, static_cast<std::size_t>(count)}, bounds, scratch_);
    const Count quantum = count > group_size ? group_size : bucket_size;
    return division.take(middle_left_count(count, division.left_of_middle(), quantum), id_);
  }

  void sort_bucket(std::int32_t first, std::int32_t count) {
    std::sort(records_ + first, records_ + first + count,
              [this](const Record& a, const Record& b) { return id_[a.index] < id_[b.index]; });
  }

  Record* records_;
  const ParticleId* id_;
  LocalCell* cells_;
  Scratch<Simd>& scratch_;
};

/// The bisection of a cell down to the leaves of the ORB.
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
        scratch_(records.size()) {}

  /// Cuts the cell of this index, whose count, weight (`halves`) and leaves are known, and whose records
  /// begin at `begin`. Under `middle` weights are summed from the leaves upwards.
  void cut(std::size_t index, std::size_t begin, const Bounds& bounds) {
    Cell cell = cells_[index];
    cell.low = bounds.low_corner();
    cell.high = bounds.high_corner();
    cell.cut = {0, 0, -1};
    cell.child = -1;
    const auto records = records_.subspan(begin, static_cast<std::size_t>(cell.count));
    if (scheme_.is_leaf(cell.count, cell.leaves)) {
      if (scheme_.rule == CutRule::middle) cell.weight = weigh(records);
      cells_[index] = cell;
      return;
    }
    const Division<Simd> division(records, bounds, scratch_);
    const CutTarget target = scheme_.target(cell.count, cell.weight, cell.leaves, division.left_of_middle());
    const Parts parts = division.take(
        weight_ ? weighted_prefix(target, records, division.axis(), id_, weight_) : target.longest(), id_);
    cell.cut = cut_before(records.subspan(parts.left), division.axis(), parts.right_bounds);
    cell.child = add_children(cell, records.first(parts.left));
    cells_[index] = cell;
    const auto child = static_cast<std::size_t>(cell.child);
    cut(child, begin, parts.left_bounds);
    cut(child + 1, begin + parts.left, parts.right_bounds);
    cells_[index].weight = cells_[child].weight + cells_[child + 1].weight;
  }

 private:
  /// The cut whose right part is this: its least element.
  Cut cut_before(std::span<const Record> right, int axis, const Bounds& bounds) const {
    Cut cut{~ParticleId{0}, bounds.low[axis], axis};
    Simd::for_each_equal(right.data(), right.size(), axis, cut.coordinate,
                         [&](const Record& r) { cut.id = std::min(cut.id, id_[r.index]); });
    return cut;
  }

  std::int32_t add_children(const Cell& cell, std::span<const Record> left_part) {
    Cell left{}, right{};
    left.first = cell.first;
    left.count = static_cast<Count>(left_part.size());
    left.first_leaf = cell.first_leaf;
    left.leaves = scheme_.left_leaves(cell.leaves, left.count);
    right.first = cell.first + left.count;
    right.count = cell.count - left.count;
    right.first_leaf = cell.first_leaf + left.leaves;
    right.leaves = cell.leaves - left.leaves;
    if (scheme_.rule == CutRule::halves) {
      left.weight = weigh(left_part);
      right.weight = cell.weight - left.weight;
    }
    cells_.push_back(left);
    cells_.push_back(right);
    return static_cast<std::int32_t>(cells_.size()) - 2;
  }

  Count weigh(std::span<const Record> records) const {
    if (!weight_) return static_cast<Count>(records.size());
    Count sum = 0;
    for (const Record& r : records) sum += weight_[r.index];
    return sum;
  }

  CutScheme scheme_;
  std::span<Record> records_;
  const ParticleId* id_;
  const std::uint32_t* weight_;
  std::vector<Cell>& cells_;
  Scratch<Simd> scratch_;
};

/// cut_to_leaves() over the passes of Simd.
template <class Simd>
std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight) {
  std::vector<Cell> cells{root};
  cells.reserve(2 * static_cast<std::size_t>(root.leaves));
  OrbBisection<Simd>(scheme, records, id, weight, cells)
      .cut(0, 0, Simd::bounds(records.data(), records.size()));
  return cells;
}

/// cut_leaf() over the passes of Simd.
template <class Simd>
void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  if (count == 0) return;
  const auto n = static_cast<std::size_t>(count);
  Scratch<Simd> scratch(n);
  LeafBisection<Simd>(records, id, cells, scratch).cut(0, count, 0, 1, Simd::bounds(records, n));
}

}  // namespace grove::bisection
