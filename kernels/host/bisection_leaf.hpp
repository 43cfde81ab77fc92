#pragma once

#include "base/array.hpp"
#include "kernels/host/bisection_search.hpp"
#include "kernels/math/group_cuts.hpp"

/// From a leaf to its buckets: the leaf stays in cache, records move as a whole.
namespace grove::bisection {

/// Working memory of one thread.
struct LeafScratch {
  Array<Coordinate> keys, selected;
  Array<Record> records;

  void reserve(std::size_t count) {
    if (records.size() >= count) return;
    keys.resize(count);
    selected.resize(count);
    records.resize(count);
  }
};

/// The bisection of one leaf by a rule such as GroupCuts, over the passes of Simd.
template <class Simd, class Rule>
class LeafBisection {
 public:
  /// scratch: of at least as many records as the leaf.
  LeafBisection(const Rule& rule, Record* records, const ParticleId* id, LocalCell* cells,
                LeafScratch& scratch)
      : rule_(rule), records_(records), id_(id), cells_(cells), scratch_(scratch) {}

  /// Cuts the cell `self` of records [first, first + count); its descendants are stored from `child` on.
  void cut(std::int32_t first, std::int32_t count, std::int32_t self, std::int32_t child,
           const Bounds& bounds) {
    const bool bucket = rule_.is_bucket(count);
    cells_[self] = {bounds.low_corner(), bounds.high_corner(), first, count, bucket ? -1 : child};
    if (bucket) return sort_bucket(first, count);
    const Parts parts = divide({records_ + first, static_cast<std::size_t>(count)}, bounds);
    const auto left = static_cast<std::int32_t>(parts.left);
    cut(first, left, child, child + 2, parts.left_bounds);
    cut(first + left, count - left, child + 1, child + 1 + rule_.cells(left), parts.right_bounds);
  }

 private:
  Parts divide(std::span<Record> records, const Bounds& bounds) {
    const std::size_t count = records.size();
    if constexpr (requires { &Simd::template divide_group<4, Rule>; }) {
      Parts parts;
      const bool done = count == 16   ? Simd::template divide_group<4>(rule_, records.data(), bounds, parts)
                        : count == 24 ? Simd::template divide_group<6>(rule_, records.data(), bounds, parts)
                        : count == 32 ? Simd::template divide_group<8>(rule_, records.data(), bounds, parts)
                                      : false;
      if (done) return parts;
    }
    const int axis = rule_.axis(bounds.low_corner(), bounds.high_corner());
    const Coordinate low = bounds.low[axis], high = bounds.high[axis], middle = rule_.middle(low, high);
    Coordinate* const keys = scratch_.keys.data();
    Simd::extract(records.data(), count, axis, keys);
    const std::size_t less = Simd::count_less(keys, count, middle);
    const auto k =
        static_cast<std::size_t>(rule_.left_count(static_cast<Count>(count), static_cast<Count>(less)));
    const Bracket start =
        less <= k ? Bracket{middle, std::uint64_t{high} + 1, less, count} : Bracket{low, middle, 0, less};
    const Bracket b = narrow<Simd>(start, k, {keys, count, 0}, scratch_.selected.data());
    if (!b.splits(k)) return divide_ties<Simd>(records, k, axis, id_);
    return Simd::partition(records.data(), count, axis, static_cast<Coordinate>(b.low),
                           scratch_.records.data());
  }

  void sort_bucket(std::int32_t first, std::int32_t count) {
    Record* const bucket = records_ + first;
    if (count == bucket_size)
      Simd::sort_bucket(bucket, id_);
    else
      std::sort(bucket, bucket + count,
                [this](const Record& a, const Record& b) { return id_[a.index] < id_[b.index]; });
  }

  const Rule& rule_;
  Record* records_;
  const ParticleId* id_;
  LocalCell* cells_;
  LeafScratch& scratch_;
};

/// cut_leaf() over the passes of Simd.
template <class Simd, class Rule>
void cut_leaf(const Rule& rule, Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  if (count == 0) return;
  const auto n = static_cast<std::size_t>(count);
  thread_local LeafScratch scratch;  // fresh memory for every leaf would cost as much as a few levels
  scratch.reserve(n + Simd::padding);
  LeafBisection<Simd, Rule>(rule, records, id, cells, scratch).cut(0, count, 0, 1, Simd::bounds(records, n));
}

}  // namespace grove::bisection
