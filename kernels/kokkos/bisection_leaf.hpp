#pragma once

#include "base/array.hpp"
#include "kernels/kokkos/bisection_search.hpp"

/// From a leaf to its buckets: the leaf stays in cache, records move as a whole.
namespace grove::bisection {

/// The bisection of one leaf of at most `count` records.
template <class Simd>
class LeafBisection {
 public:
  LeafBisection(Record* records, std::size_t count, const ParticleId* id, LocalCell* cells)
      : records_(records),
        id_(id),
        cells_(cells),
        keys_(count + Simd::padding),
        selected_(count + Simd::padding),
        scratch_(count + Simd::padding) {}

  /// Cuts the cell `self` of records [first, first + count); its descendants are stored from `child` on.
  void cut(std::int32_t first, std::int32_t count, std::int32_t self, std::int32_t child,
           const Bounds& bounds) {
    const bool bucket = count <= bucket_size;
    cells_[self] = {bounds.low_corner(), bounds.high_corner(), first, count, bucket ? -1 : child};
    if (bucket) return sort_bucket(first, count);
    const Parts parts = divide({records_ + first, static_cast<std::size_t>(count)}, bounds);
    const auto left = static_cast<std::int32_t>(parts.left);
    cut(first, left, child, child + 2, parts.left_bounds);
    cut(first + left, count - left, child + 1, child + 1 + local_cells(left), parts.right_bounds);
  }

 private:
  Parts divide(std::span<Record> records, const Bounds& bounds) {
    const std::size_t count = records.size();
    if constexpr (requires { &Simd::template divide_group<4>; }) {
      Parts parts;
      const bool done = count == 16   ? Simd::template divide_group<4>(records.data(), bounds, parts)
                        : count == 24 ? Simd::template divide_group<6>(records.data(), bounds, parts)
                        : count == 32 ? Simd::template divide_group<8>(records.data(), bounds, parts)
                                      : false;
      if (done) return parts;
    }
    const int axis = bounds.longest_axis();
    const Coordinate low = bounds.low[axis], high = bounds.high[axis], middle = spatial_middle(low, high);
    Simd::extract(records.data(), count, axis, keys_.data());
    const std::size_t less = Simd::count_less(keys_.data(), count, middle);
    const auto k = static_cast<std::size_t>(middle_left_count(
        static_cast<Count>(count), static_cast<Count>(less), count > group_size ? group_size : bucket_size));
    const Bracket start =
        less <= k ? Bracket{middle, std::uint64_t{high} + 1, less, count} : Bracket{low, middle, 0, less};
    const Bracket b = narrow<Simd>(start, k, {keys_.data(), count, 0}, selected_.data());
    if (!b.splits(k)) return divide_ties<Simd>(records, k, axis, id_);
    return Simd::partition(records.data(), count, axis, static_cast<Coordinate>(b.low), scratch_.data());
  }

  /// By rank: how many ids are smaller. All pairs are compared, without branches.
  void sort_bucket(std::int32_t first, std::int32_t count) {
    using Ids [[gnu::vector_size(sizeof(ParticleId) * bucket_size)]] = ParticleId;
    Record* const bucket = records_ + first;
    ParticleId id[bucket_size];
    Record sorted[bucket_size];
    for (std::int32_t i = 0; i < bucket_size; ++i) id[i] = i < count ? id_[bucket[i].index] : ~ParticleId{0};
    Ids ids, rank{};
    std::memcpy(&ids, id, sizeof ids);
    for (const ParticleId other : id) rank += other < ids ? Ids{} + 1 : Ids{};
    for (std::int32_t i = 0; i < count; ++i) sorted[rank[i]] = bucket[i];
    std::copy_n(sorted, count, bucket);
  }

  Record* records_;
  const ParticleId* id_;
  LocalCell* cells_;
  Array<Coordinate> keys_, selected_;
  Array<Record> scratch_;
};

/// cut_leaf() over the passes of Simd.
template <class Simd>
void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  if (count == 0) return;
  const auto n = static_cast<std::size_t>(count);
  LeafBisection<Simd>(records, n, id, cells).cut(0, count, 0, 1, Simd::bounds(records, n));
}

}  // namespace grove::bisection
