#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/block/block_radix_sort.cuh>
#include <type_traits>

#include "base/types.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/trees/leaf_bisection.hpp"
#include "kernels/math/group_cuts.hpp"
#include "kernels/math/node.hpp"

/// The cutting of one leaf by one block (cut_leaves()), for the kernels that cut leaves.
namespace grove::cuda {

/// A cell that is cut has more particles than a bucket.
inline constexpr int most_active = most_in_leaf / (bucket_size + 1) + 1;
inline constexpr std::int16_t no_cell = -1;

/// A cell that is being cut. Places and nodes count from those of its leaf.
struct ActiveCell {
  std::uint16_t first, count;
  std::int16_t below;  ///< where its descendants begin
  std::int16_t next;   ///< where a walk goes on behind it

  std::uint16_t split;     ///< the first place that goes right
  std::uint16_t axis;      ///< of the cut
  std::int16_t child[2];   ///< among the active cells of the next level; no_cell: a bucket
  std::uint16_t lefts[2];  ///< that the leaf has before it, by list that moves
};

/// By one block of so many threads. items: places per thread.
template <int threads, int items>
struct CutMemory {
  static constexpr int most = threads * items;
  static constexpr int warps = threads / 32;
  using Sort = cub::BlockRadixSort<std::uint32_t, threads, items, std::uint16_t>;

  alignas(16) Coordinate coordinate[3][most];
  alignas(16) std::uint16_t list[3][most];  ///< by place: particles in the order of an axis
  union {
    typename Sort::TempStorage sort;
    struct {
      ActiveCell cells[2][most_active];  ///< of this level and the next, in turn
      std::uint8_t goes_right[most];     ///< by particle
    } cut;
  };
  Coordinate low[3], high[3];
  int active[2];
  std::uint16_t lefts[2][warps];
};

/// The block's part of the cutting of a leaf. Particles: those of a leaf, with their integer coordinates,
/// their indices and their ids, each by their number in the leaf.
template <int threads, int items, class Particles>
class LeafBisection {
  using S = CutMemory<threads, items>;

 public:
  /// order, links (out): of this leaf alone.
  __device__ LeafBisection(S& shared, const Particles& particles, std::int32_t count, const GroupCuts& rule,
                           std::uint32_t* order, NodeLinks* links)
      : s_(shared), particles_(particles), count_(count), rule_(rule), order_(order), links_(links) {
    load();
  }

  __device__ void run() {
    for (int axis = 0; axis < 3; ++axis) sort(axis);
    start();
    for (int level = 0; s_.active[level % 2] > 0; ++level) {
      if (threadIdx.x == 0) s_.active[1 - level % 2] = 0;
      __syncthreads();
      plan(level);
      __syncthreads();
      mark(level);
      __syncthreads();
      divide(level);
      __syncthreads();
    }
    finish();
  }

 private:
  /// The r-th place of this thread in passes over places: lanes of a warp have neighbouring ones.
  __device__ int place(int r) const {
    return static_cast<int>(threadIdx.x / 32 * 32 * items + 32 * r + threadIdx.x % 32);
  }

  __device__ void load() {
    if (threadIdx.x < 3) s_.low[threadIdx.x] = ~0u, s_.high[threadIdx.x] = 0;
    __syncthreads();
    Coordinate low[3] = {~0u, ~0u, ~0u}, high[3] = {0, 0, 0};
    for (int i = threadIdx.x; i < count_; i += threads) {
      const IntegerPosition place = particles_.coordinates(i);
      for (int axis = 0; axis < 3; ++axis) {
        s_.coordinate[axis][i] = place[axis];
        low[axis] = min(low[axis], place[axis]), high[axis] = max(high[axis], place[axis]);
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = __reduce_min_sync(~0u, low[axis]), high[axis] = __reduce_max_sync(~0u, high[axis]);
      if (threadIdx.x % 32 == 0) atomicMin(&s_.low[axis], low[axis]), atomicMax(&s_.high[axis], high[axis]);
    }
    __syncthreads();
  }

  /// Makes the list of an axis.
  __device__ void sort(int axis) {
    const Coordinate low = s_.low[axis], extent = s_.high[axis] - low;
    const int bits = 32 - __clz(static_cast<int>(extent));
    const int begin = static_cast<int>(threadIdx.x) * items;
    std::uint32_t key[items];
    std::uint16_t value[items];
    for (int i = 0; i < items; ++i) {
      value[i] = static_cast<std::uint16_t>(begin + i);
      // Places without a particle come behind all, because the sort is stable.
      key[i] = begin + i < count_ ? s_.coordinate[axis][begin + i] - low : ~0u;
    }
    if (bits > 0) {
      typename S::Sort(s_.sort).Sort(key, value, 0, bits);
      __syncthreads();
    }
    for (int i = 0; i < items; ++i) s_.list[axis][begin + i] = value[i];
    __syncthreads();
    settle_ties(axis);
  }

  /// Equal coordinates are in the order of the ids. A particle counts those before it in its run of equals:
  /// runs are short, but for degenerate sets.
  __device__ void settle_ties(int axis) {
    const std::uint16_t* const list = s_.list[axis];
    const Coordinate* const coordinate = s_.coordinate[axis];
    int to[items];
    std::uint16_t value[items];
    bool has_ties = false;
    for (int r = 0; r < items; ++r) {
      const int p = place(r);
      to[r] = p;
      if (p >= count_) continue;
      value[r] = list[p];
      const Coordinate own = coordinate[value[r]];
      const auto is_tied = [&](int q) { return q >= 0 && q < count_ && coordinate[list[q]] == own; };
      if (!is_tied(p - 1) && !is_tied(p + 1)) continue;
      has_ties = true;
      int first = p;
      while (is_tied(first - 1)) --first;
      const ParticleId id = particles_.id(value[r]);
      to[r] = first;
      for (int q = first; is_tied(q); ++q) {
        const ParticleId other = particles_.id(list[q]);
        to[r] += other < id || (other == id && list[q] < value[r]);
      }
    }
    if (!__syncthreads_or(has_ties)) return;
    for (int r = 0; r < items; ++r)
      if (place(r) < count_) s_.list[axis][to[r]] = value[r];
    __syncthreads();
  }

  __device__ void start() {
    const bool is_cut = !rule_.is_bucket(count_);
    if (threadIdx.x == 0) {
      s_.active[0] = is_cut ? 1 : 0;
      s_.cut.cells[0][0] = {0,     static_cast<std::uint16_t>(count_), 1, no_cell, 0, 0, {no_cell, no_cell},
                            {0, 0}};
      links_[0] = {is_cut ? 1 : NodeLinks::bucket, -1, 0, count_};
    }
    for (int r = 0; r < items; ++r) cell_[r] = is_cut && place(r) < count_ ? std::int16_t{0} : no_cell;
    __syncthreads();
  }

  /// Plans the cuts of the cells of a level, and their children.
  __device__ void plan(int level) {
    for (int k = threadIdx.x; k < s_.active[level % 2]; k += threads) {
      ActiveCell& c = s_.cut.cells[level % 2][k];
      const int last = c.first + c.count - 1;
      IntegerPosition low, high;
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = s_.coordinate[axis][s_.list[axis][c.first]];
        high[axis] = s_.coordinate[axis][s_.list[axis][last]];
      }
      const int axis = rule_.axis(low, high);
      const int less = number_less(axis, c.first, c.count, rule_.middle(low[axis], high[axis]));
      const int left = static_cast<int>(rule_.left_count(c.count, less));
      c.axis = static_cast<std::uint16_t>(axis);
      c.split = static_cast<std::uint16_t>(c.first + left);
      const int below_right = c.below + 2 + rule_.cells(left) - 1;
      add_child(level, c, 0, c.first, left, c.below + 2, c.below + 1);
      add_child(level, c, 1, c.split, c.count - left, below_right, c.next);
    }
  }

  /// Coordinates below a bound in a range of an axis' list.
  __device__ int number_less(int axis, int first, int count, Coordinate bound) const {
    int least = 0, most = count;
    while (least < most) {
      const int middle = (least + most) / 2;
      if (s_.coordinate[axis][s_.list[axis][first + middle]] < bound)
        least = middle + 1;
      else
        most = middle;
    }
    return least;
  }

  __device__ void add_child(int level, ActiveCell& parent, int side, int first, int count, int below,
                            int next) {
    const bool is_cut = !rule_.is_bucket(count);
    links_[parent.below + side] = {is_cut ? below : NodeLinks::bucket, next, first, count};
    parent.child[side] = no_cell;
    if (!is_cut) return;
    const int slot = atomicAdd(&s_.active[1 - level % 2], 1);
    parent.child[side] = static_cast<std::int16_t>(slot);
    ActiveCell& child = s_.cut.cells[1 - level % 2][slot];
    child.first = static_cast<std::uint16_t>(first);
    child.count = static_cast<std::uint16_t>(count);
    child.below = static_cast<std::int16_t>(below);
    child.next = static_cast<std::int16_t>(next);
  }

  /// By particle: whether it goes right.
  __device__ void mark(int level) {
#pragma unroll
    for (int r = 0; r < items; ++r) {
      if (cell_[r] == no_cell) continue;
      const ActiveCell& c = s_.cut.cells[level % 2][cell_[r]];
      const int p = place(r);
      s_.cut.goes_right[s_.list[c.axis][p]] = p >= c.split;
    }
  }

  /// Partitions the two lists of each cell that are not of its axis, in place: all is read before any is
  /// written.
  __device__ void divide(int level) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // By place: the particle, whether it goes right, and how many places before it in the leaf go left.
    std::uint16_t particle[2][items], before[2][items];
    unsigned right[2] = {0, 0};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      std::uint32_t lefts = 0;
#pragma unroll
      for (int r = 0; r < items; ++r) {
        bool is_left = false;
        if (cell_[r] != no_cell) {
          particle[m][r] = s_.list[moving(level, r, m)][place(r)];
          is_left = !s_.cut.goes_right[particle[m][r]];
          right[m] |= static_cast<unsigned>(!is_left) << r;
        }
        const unsigned votes = __ballot_sync(~0u, is_left);
        before[m][r] = static_cast<std::uint16_t>(lefts + __popc(votes & ((1u << lane) - 1)));
        lefts += __popc(votes);
      }
      if (lane == 0) s_.lefts[m][warp] = static_cast<std::uint16_t>(lefts);
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const std::uint32_t other = lane < warp ? s_.lefts[m][lane] : 0;
      const std::uint32_t of_warps = __reduce_add_sync(~0u, other);
#pragma unroll
      for (int r = 0; r < items; ++r) {
        before[m][r] = static_cast<std::uint16_t>(before[m][r] + of_warps);
        if (cell_[r] == no_cell) continue;
        ActiveCell& c = s_.cut.cells[level % 2][cell_[r]];
        if (place(r) == c.first) c.lefts[m] = before[m][r];
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < items; ++r) {
      if (cell_[r] == no_cell) continue;
      const ActiveCell& c = s_.cut.cells[level % 2][cell_[r]];
      const int p = place(r);
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const int lefts = before[m][r] - c.lefts[m];
        const int to = right[m] >> r & 1 ? c.split + (p - c.first - lefts) : c.first + lefts;
        s_.list[moving(level, r, m)][to] = particle[m][r];
      }
      cell_[r] = c.child[p >= c.split];
    }
  }

  /// The m-th of the two lists that move in the cell of the r-th place.
  __device__ int moving(int level, int r, int m) const {
    const int list = s_.cut.cells[level % 2][cell_[r]].axis + 1 + m;
    return list < 3 ? list : list - 3;
  }

  /// Buckets in the order of their ids. They begin at multiples of their size, but for the last all are full.
  __device__ void finish() {
    static_assert(32 % bucket_size == 0);
    for (int r = 0; r < items; ++r) {
      const int p = place(r);
      const bool is_there = p < count_;
      const int particle = is_there ? s_.list[0][p] : 0;
      const ParticleId id = is_there ? particles_.id(particle) : 0;
      const int bucket = p / bucket_size * bucket_size;
      int rank = 0;
      for (int other = 0; other < bucket_size; ++other) {
        const ParticleId its = __shfl_sync(~0u, id, other, bucket_size);
        rank += bucket + other < count_ && (its < id || (its == id && bucket + other < p));
      }
      if (is_there) order_[bucket + rank] = particles_.index(particle);
    }
  }

  S& s_;
  const Particles particles_;
  const int count_;
  const GroupCuts rule_;
  std::uint32_t* order_;
  NodeLinks* links_;
  std::int16_t cell_[items];  ///< by place of this thread: the active cell that it is in
};

/// Calls visit(number of particles per thread, as a constant) for a block of so many threads and a leaf of so
/// many particles.
template <int threads, class Visit>
void with_items(std::int32_t largest, const Visit& visit) {
  if (largest <= threads)
    visit(std::integral_constant<int, 1>{});
  else if (largest <= 2 * threads)
    visit(std::integral_constant<int, 2>{});
  else if (largest <= 4 * threads)
    visit(std::integral_constant<int, 4>{});
  else
    visit(std::integral_constant<int, std::max(most_in_leaf / threads, 4)>{});
}

/// Lets a kernel have the memory of a block that cuts leaves.
template <int threads, int items, class Kernel>
void allow_cut_memory(Kernel kernel) {
  GROVE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(CutMemory<threads, items>)));
}

}  // namespace grove::cuda
