#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/math/leaf_targets.hpp"
#include "kernels/math/top_sum.hpp"
#include "kernels/math/wanted.hpp"

/// How sums go up the tree of the cells that a rank knows (DeviceTop).
namespace grove::cuda {

/// The way of sums up the tree, by blocks that do not meet. Trees of concentrated systems are deep and thin:
/// most of the time a few threads wait for the sums of siblings, and those of their own block they find in
/// the cache of their multiprocessor, behind fences that cost next to nothing.
template <Order order>
struct Climb {
  static constexpr Order node_order = order;

  const TopLinks* cells;
  const std::int32_t* parent;
  TopSum* sums;
  std::uint32_t* has_one;  ///< a bit per cell: one of its children is done; 0 before

  /// The next step of the way from a cell: its parent, below 0 if it is the root, the left child of that, and
  /// the sibling.
  struct Step {
    std::int32_t up, left, sibling;
  };
  __device__ Step step_from(std::int32_t c) const {
    const std::int32_t up = parent[c], left = up < 0 ? c : cells[up].child;
    return {up, left, c == left ? left + 1 : left};
  }

  /// Goes on from a cell with its sum, until another one has to come. Of two that meet the second goes on
  /// with their parent. stops(cell, below, sibling): what there is to do at each; below: the child that this
  /// came from, -1 at the first one; sibling: that of it; true: no farther.
  template <class Visit>
  __device__ void run(std::int32_t c, TopSum sum, const Visit& stops) const {
    Step step = step_from(c);
    for (std::int32_t sibling = -1, below = -1;;) {
      sums[c] = sum;
      if (stops(c, below, sibling)) return;
      if (step.up < 0) return;
      const Step next = step_from(step.up);  // is known when the sum is
      const std::uint32_t bit = 1u << (step.up % 32);
      __threadfence_block();
      if ((atomicOr(&has_one[step.up / 32], bit) & bit) == 0) return;
      __threadfence_block();
      const TopSum other = sums[step.sibling];
      sum = c == step.left ? united<order>(sum, other) : united<order>(other, sum);
      below = c;
      sibling = step.sibling;
      c = step.up;
      step = next;
    }
  }
};

/// Up to the root, or, where there are covers, to one of these. wanted (out): by cell, where there are
/// covers.
struct CellClimb {
  const std::uint8_t* is_cover;
  Wanted* wanted;

  /// ends(cell): it goes on from there another time.
  template <class Way, class Ends>
  __device__ void go_on(std::int32_t cell, const TopSum& sum, Wanted all, const Way& way,
                        const Ends& ends) const {
    way.run(cell, sum, [&](std::int32_t c, std::int32_t below, std::int32_t sibling) {
      if (!is_cover) return ends(c);
      if (below >= 0) all = Wanted::united_if_any(all, wanted[sibling]);
      wanted[c] = all;
      return is_cover[c] != 0 || ends(c);
    });
  }
};

/// From each own leaf to covers, or to the last cells below which all own leaves begin in the same block.
struct LeafClimb {
  CellClimb climb;
  WalkUnits units;
  const LeafNotice* notices;
  const std::uint32_t* leaf_cell;
  const std::uint8_t* is_head;

  template <class Way>
  __device__ void begin_at(std::uint32_t leaf, const Way& way) const {
    const LeafNotice& notice = notices[leaf];
    const Wanted all = climb.is_cover
                           ? LeafTargets{notice.bounds, notice.root.origin, notice.ball}.wanted(units.length)
                           : Wanted::nothing();
    climb.go_on(static_cast<std::int32_t>(leaf_cell[leaf]), top_sum_of(notice.root, units, Way::node_order),
                all, way, [&](std::int32_t c) { return is_head[c] != 0; });
  }
};

/// From these cells on, by one block.
struct HeadClimb {
  CellClimb climb;
  const std::int32_t* heads;

  template <class Way>
  __device__ void begin_at(std::uint32_t head, const Way& way) const {
    const std::int32_t c = heads[head];
    climb.go_on(c, way.sums[c], climb.is_cover ? climb.wanted[c] : Wanted::nothing(), way,
                [](std::int32_t) { return false; });
  }
};

/// From each cover up to the root, by one block. covers: what is told of each.
struct CoverClimb {
  const CoverNotice* covers;
  const std::int32_t* cover_cells;

  template <class Way>
  __device__ void begin_at(std::uint32_t cover, const Way& way) const {
    way.run(cover_cells[cover], covers[cover].sum,
            [](std::int32_t, std::int32_t, std::int32_t) { return false; });
  }
};

inline constexpr unsigned most_climb_threads = 512;

/// A thread per item, or several items, one after the other. words: of way.has_one, which each block has in
/// shared memory if that is null.
template <Order order, class Begin>
__global__ void __launch_bounds__(most_climb_threads)
    climb(const Begin from, std::uint32_t count, Climb<order> way, std::uint32_t words) {
  extern __shared__ std::uint32_t bits_of_cells[];
  if (!way.has_one) {
    way.has_one = bits_of_cells;
    for (std::uint32_t word = threadIdx.x; word < words; word += blockDim.x) bits_of_cells[word] = 0;
    __syncthreads();
  }
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    from.begin_at(i, way);
}

/// order: of nodes. from: where to begin. sums (out): of the cells on all ways from there.
template <class Begin>
void climb_from(Order order, const Begin& from, std::size_t count, unsigned blocks, unsigned block_threads,
                const TopLinks* cells, const DeviceArray<std::int32_t>& parent, TopSum* sums) {
  constexpr std::size_t most_words = 8192;  // less than any block may have
  const std::size_t words = (parent.size() + 31) / 32;
  const bool is_shared = words <= most_words;
  DeviceArray<std::uint32_t> has_one(is_shared ? 0 : words);
  if (!is_shared) has_one.clear();
  const auto go = [&]<Order of>(std::integral_constant<Order, of>) {
    climb<<<blocks, block_threads, is_shared ? words * sizeof(std::uint32_t) : 0, stream()>>>(
        from, static_cast<std::uint32_t>(count),
        Climb<of>{cells, parent.data(), sums, is_shared ? nullptr : has_one.data()},
        static_cast<std::uint32_t>(words));
  };
  if (order == Order::octupole)
    go(std::integral_constant<Order, Order::octupole>{});
  else
    go(std::integral_constant<Order, Order::quadrupole>{});
  launched("Grove::cuda::climb");
}

}  // namespace grove::cuda
