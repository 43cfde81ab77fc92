#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/kd_small_memory.cuh"
#include "kernels/cuda/trees/kd_view.cuh"

namespace grove::cuda {

/// The tree below a node of at most 32 particles, level by level, all nodes of a level at once: each lane of
/// a warp has a particle, and the lanes of a node are neighbours. Masses are equal wherever cuts ask for
/// them.
class KdLaneTree {
 public:
  /// Called by all lanes; node: the same for all.
  __device__ KdLaneTree(const KdView& view, const KdNode& root, KdSmallMemory& memory,
                        const KdSmallNode& node)
      : v_(view), root_(root), m_(memory), begin_(node.first) {
    const bool is_used = lane_ < node.count;
    first_ = is_used ? 0 : lane_;
    count_ = is_used ? node.count : 1;
    before_ = node.before;
    cut_low_ = node.cut_low;
    cut_high_ = node.cut_high;
    slot_ = m_.slot[node.first + (is_used ? lane_ : 0)];
    used_ = node.count;
  }

  __device__ void grow() {
    while (__any_sync(~0U, is_divided())) divide();
    finish();
  }

 private:
  struct Side {
    int axis;
    Coordinate low, high;  ///< of the tight box
    __device__ bool exists() const { return low != high; }
  };

  __device__ bool is_divided() const { return count_ > static_cast<std::int32_t>(v_.bucket); }
  __device__ std::int32_t last() const { return first_ + count_ - 1; }
  __device__ ParticleId id() const {
    const std::uint32_t index = m_.index[slot_];
    return v_.from.ids ? v_.from.ids[index] : index;
  }
  __device__ static bool any_of(const bool mine) { return __any_sync(~0U, mine); }

  /// All nodes that are to be divided.
  __device__ void divide() {
    const Side side = longest_side();
    const bool is_divided = this->is_divided(), in_middle = v_.split == KdSplit::middle && side.exists();
    const Coordinate middle = kd_middle(side.low, side.high);
    Coordinate key = m_.at[side.axis][slot_];
    std::int32_t rank = lane_ - first_, left = count_ / 2;
    if (any_of(is_divided && !in_middle)) {
      const std::int32_t sorted = rank_of(key);
      if (!in_middle) rank = sorted;
    }
    if (v_.split == KdSplit::middle) {
      const unsigned lefts = __ballot_sync(~0U, key < middle), own = lanes_of_node();
      if (in_middle) {
        left = __popc(lefts & own);
        rank = key < middle ? __popc(lefts & own & lanes_before())
                            : left + __popc(~lefts & own & lanes_before());
      }
    }
    key = move(is_divided ? rank : lane_ - first_, key);
    if (v_.split == KdSplit::vmh || v_.split == KdSplit::vmh_tight) {
      const std::int32_t cheapest = least_cost(side, key);
      if (side.exists()) left = cheapest;
    }
    const Coordinate last_left = __shfl_sync(~0U, key, first_ + left - 1);
    if (is_divided) part(side.axis, left, in_middle ? middle : last_left);
  }

  __device__ unsigned lanes_of_node() const { return ~0U >> (32 - count_) << first_; }

  __device__ Side longest_side() const {
    IntegerPosition low{m_.at[0][slot_], m_.at[1][slot_], m_.at[2][slot_]}, high = low;
    for (int step = 1; step < 32; step *= 2) {
      const bool is_inside = lane_ - step >= first_;
      for (int axis = 0; axis < 3; ++axis) {
        const Coordinate l = __shfl_up_sync(~0U, low[axis], step), h = __shfl_up_sync(~0U, high[axis], step);
        if (!is_inside) continue;
        low[axis] = min(low[axis], l);
        high[axis] = max(high[axis], h);
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = __shfl_sync(~0U, low[axis], last());
      high[axis] = __shfl_sync(~0U, high[axis], last());
    }
    const int axis = longest_axis(low, high);
    return {axis, low[axis], high[axis]};
  }

  /// The number of the node's particles that come before by (key, id).
  __device__ std::int32_t rank_of(Coordinate key) const {
    std::int32_t rank = 0, equal = 0;
    const std::int32_t longest = __reduce_max_sync(~0U, count_);
    for (std::int32_t j = 0; j < longest; ++j) {
      const Coordinate other = __shfl_sync(~0U, key, first_ + j);
      rank += j < count_ && other < key;
      equal += j < count_ && other == key;
    }
    if (!any_of(is_divided() && equal > 1)) return rank;
    const ParticleId own = id();
    for (std::int32_t j = 0; j < longest; ++j) {
      const Coordinate other = __shfl_sync(~0U, key, first_ + j);
      const ParticleId other_id = __shfl_sync(~0U, own, first_ + j);
      rank += j < count_ && other == key && (other_id < own || (other_id == own && first_ + j < lane_));
    }
    return rank;
  }

  /// Particles take these places in their nodes. Returns the key of the one that comes here.
  __device__ Coordinate move(std::int32_t rank, Coordinate key) {
    m_.next_slot[first_ + rank] = static_cast<std::uint8_t>(lane_);
    __syncwarp();
    const int from = m_.next_slot[lane_];
    __syncwarp();
    slot_ = __shfl_sync(~0U, slot_, from);
    return __shfl_sync(~0U, key, from);
  }

  /// volume_mass_cut() with masses of one; the particles are sorted.
  __device__ std::int32_t least_cost(const Side& side, Coordinate key) const {
    const bool is_tight = v_.split == KdSplit::vmh_tight;
    const Coordinate low = is_tight ? side.low : cut_low_[side.axis],
                     high = is_tight ? side.high : cut_high_[side.axis];
    const Coordinate next = __shfl_down_sync(~0U, key, 1);
    const auto place = static_cast<std::uint32_t>(lane_ - first_);
    // Costs are below 2^37; equal ones go by place.
    std::uint64_t least = ~std::uint64_t{0};
    if (lane_ < last() && key != next)
      least = volume_mass_cost(low, high, key, place + 1, static_cast<std::uint64_t>(count_)) << 5 | place;
    for (int step = 1; step < 32; step *= 2) {
      const std::uint64_t other = __shfl_up_sync(~0U, least, step);
      if (lane_ - step >= first_) least = min(least, other);
    }
    return static_cast<std::int32_t>(__shfl_sync(~0U, least, last()) & 31) + 1;
  }

  /// The node's first particles are on the left of a cut.
  __device__ void part(int axis, std::int32_t left, Coordinate plane) {
    if (lane_ == first_ + left)
      v_.cut[place_of(lane_)] = {place_of(first_), place_of(first_ + count_), root_.leaf, before_};
    if (lane_ < first_ + left) {
      count_ = left;
      ++before_;
      cut_high_[axis] = plane;
    } else {
      first_ += left;
      count_ -= left;
      before_ = 0;
      cut_low_[axis] = plane;
    }
  }

  /// Buckets: their particles by id.
  __device__ void finish() const {
    std::int32_t rank = 0;
    const std::int32_t longest = __reduce_max_sync(~0U, count_);
    if (longest > 1) {
      const ParticleId own = id();
      for (std::int32_t j = 0; j < longest; ++j) {
        const ParticleId other = __shfl_sync(~0U, own, first_ + j);
        rank += j < count_ && (other < own || (other == own && first_ + j < lane_));
      }
    }
    if (lane_ >= used_) return;
    v_.order[place_of(first_ + rank)] = m_.index[slot_];
    v_.divided[place_of(lane_)] = lane_ == first_ ? before_ : 0;
    if (lane_ > first_) v_.cut[place_of(lane_)].end = 0;
  }

  __device__ std::uint32_t place_of(std::int32_t lane) const {
    return root_.first + static_cast<std::uint32_t>(begin_ + lane);
  }

  const KdView& v_;
  const KdNode& root_;
  KdSmallMemory& m_;
  const std::int32_t begin_;  ///< of the node, in the order of the small tree
  const int lane_ = lane_index();
  std::int32_t first_, count_;  ///< lanes of the node that this lane's particle is in
  std::int32_t used_;           ///< lanes that have a particle
  std::uint32_t before_;
  IntegerPosition cut_low_, cut_high_;
  std::uint32_t slot_;
};

}  // namespace grove::cuda
