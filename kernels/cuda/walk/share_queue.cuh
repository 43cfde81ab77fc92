#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/node_stack.cuh"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/interaction.hpp"

/// A group that has much to sum is split: its warp stops at a limit and leaves the other nodes to any warp.
namespace grove::cuda {

/// A share is split after a part of what a group is split after: it has much to sum.
inline constexpr std::uint32_t shares_divisor = 4;

/// Some of the nodes that a warp has left of a group, or of a share.
struct alignas(128) SourceShare {
  static_assert(NodeStack::size % shares_per_split == 0);
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t nodes[NodeStack::size / shares_per_split];
  std::uint32_t count;
  std::uint32_t number;       ///< of the group, among those to be walked
  std::uint32_t parent;       ///< the share of which it has been a part, or none
  std::uint32_t first_child;  ///< of shares_per_split in a row, or none
  std::uint32_t work;         ///< interactions of a target, without children
};

/// Shares in the order in which they are left. By all lanes of a warp.
struct ShareQueue {
  SourceShare* shares;         ///< [capacity]
  std::uint32_t* ready;        ///< [capacity], of zeroes
  Accumulator<float>* totals;  ///< [capacity][32 or 64]
  std::uint32_t capacity;
  /// All counters begin at zero.
  struct State {
    std::uint32_t produced;  ///< also those for which there was no room
    std::uint32_t tickets;   ///< for shares, each for one
    std::uint32_t open;      ///< shares that are not finished
  };
  State* state;

  using Counter = ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>;
  // No other order: an acquiring load that is repeated empties the caches of those who work.
  static constexpr auto relaxed = ::cuda::memory_order_relaxed;

  /// Splits what is left of a group, or of its share `parent`. False if there is no room.
  __device__ bool split(const NodeStack& left, std::uint32_t number, std::uint32_t parent) const;

  /// Takes the next share, for which it may have to wait: its number. None: all are finished.
  __device__ std::uint32_t take() const {
    std::uint32_t number = SourceShare::none;
    if (lane_index() == 0) number = take_by_one();
    __syncwarp();  // what the first lane knows of memory all of them know
    return __shfl_sync(~0u, number, 0);
  }
  /// To be called when a share is done, and split if something is left.
  __device__ void finish() const {
    __syncwarp();
    if (lane_index() == 0) Counter(state->open).fetch_sub(1, relaxed);
  }

  /// The share behind one, in the order of sums: its children, then its siblings. None: it is the last of the
  /// group.
  __device__ std::uint32_t next(std::uint32_t number) const {
    if (shares[number].first_child != SourceShare::none) return shares[number].first_child;
    while (number % shares_per_split == shares_per_split - 1) {
      number = shares[number].parent;
      if (number == SourceShare::none) return number;
    }
    return number + 1;
  }

 private:
  __device__ std::uint32_t take_by_one() const {
    const std::uint32_t ticket = Counter(state->tickets).fetch_add(1, relaxed);
    for (int turn = 0;; ++turn) {
      if (ticket < capacity && Counter(ready[ticket]).load(relaxed) != 0) break;
      if (turn % 4 == 0 && Counter(state->open).load(relaxed) == 0) return SourceShare::none;
      __nanosleep(500);
    }
    __threadfence();
    return ticket;
  }
};

/// ShareQueue::split(), which is seldom needed and not to take registers from the walk. nodes: [count].
__device__ __noinline__ inline bool split_nodes(const ShareQueue* queue, const std::uint32_t* nodes,
                                                std::uint32_t count, std::uint32_t number,
                                                std::uint32_t parent) {
  using Counter = ShareQueue::Counter;
  const auto [shares, ready, totals, capacity, state] = *queue;
  const auto lane = static_cast<std::uint32_t>(lane_index());
  std::uint32_t first = 0;
  if (lane == 0) first = Counter(state->produced).fetch_add(shares_per_split, ShareQueue::relaxed);
  first = __shfl_sync(~0u, first, 0);
  if (first + shares_per_split > capacity) return false;
  if (lane == 0) Counter(state->open).fetch_add(shares_per_split, ShareQueue::relaxed);
  for (std::uint32_t i = lane; i < count; i += 32)
    shares[first + i % shares_per_split].nodes[i / shares_per_split] = nodes[i];
  if (lane < shares_per_split) {
    SourceShare& share = shares[first + lane];
    share.count = (count - lane + shares_per_split - 1) / shares_per_split;
    share.number = number;
    share.parent = parent;
    share.first_child = SourceShare::none;
  }
  if (lane == 0 && parent != SourceShare::none) shares[parent].first_child = first;
  __threadfence();
  __syncwarp();
  if (lane < shares_per_split) Counter(ready[first + lane]).store(1, ShareQueue::relaxed);
  return true;
}

__device__ inline bool ShareQueue::split(const NodeStack& left, std::uint32_t number,
                                         std::uint32_t parent) const {
  return split_nodes(this, left.nodes(), static_cast<std::uint32_t>(left.count()), number, parent);
}

}  // namespace grove::cuda
