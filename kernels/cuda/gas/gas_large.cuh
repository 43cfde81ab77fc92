#pragma once

#include <cstdint>

#include "kernels/cuda/gas/gas_sweep.cuh"

/// Parts of groups that have more candidates than the memory of a warp holds, as thin gas around a dense core
/// has: a block each. Its warps find candidates together, and go through different ones for the same targets.
namespace grove::cuda {

inline constexpr int large_warps = 16;  ///< of a block

/// Groups with such parts. Device memory.
struct LargeParts {
  std::uint32_t* lanes;  ///< by group: the targets of such parts, bits
  std::uint32_t* group;  ///< those that have any, in any order
  std::uint32_t* count;  ///< of these; 0 to begin with

  /// By all lanes of a warp.
  __device__ void add(std::uint32_t number, unsigned targets) const {
    if (targets == 0 || lane_index() != 0) return;
    lanes[number] = targets;
    group[atomicAdd(count, 1U)] = number;
  }
};

/// Candidates that a warp goes through at a time.
struct GasChunk {
  static constexpr std::uint32_t most = 256;
  std::uint32_t number[most];
};

/// Shared memory of a block: no more than all GPUs of compute capability 8.0 or later give one.
template <class Kept>
struct LargeMemory {
  using OfWarp = GasMemory<Kept, gas_tiles, GasChunk>;
  static constexpr std::uint32_t ranges = 64;  ///< of nodes
  OfWarp of_warp[large_warps];
  std::uint32_t begin[ranges + 1];  ///< of each: the candidates before it
};

/// Candidates are listed in the order of the tree. A warp goes through every 16th chunk of the list. So sums
/// depend on the list alone, not on how many ranks there are, as the nodes do. The list has room for `room`
/// at a time; if there are more, they are found again for each sweep.
template <class Kept, bool is_symmetric>
class LargePart {
 public:
  using Memory = LargeMemory<Kept>;
  static_assert(sizeof(Memory) <= 99 * 1024);
  static constexpr std::uint32_t room = 1U << 16;

  /// list: of this block. first: the flow at one of the targets. All are kept by the caller.
  __device__ LargePart(const NeighbourTree& tree, const WarpTarget& target, const FlowSource& first,
                       Memory& memory, std::uint32_t* list)
      : tree_(tree), target_(target), memory_(memory), own_(memory.of_warp[warp()]), list_(list) {
    own_.surround(tree, target, first);
    count();
    if (memory_.begin[Memory::ranges] <= room) write(0);
  }

  __device__ static int warp() { return static_cast<int>(threadIdx.x / 32); }
  const __device__ SweepFrame& frame() const { return own_.frame; }

  /// Visits the neighbours of those targets for which this is open. sum (in): 0, where it is a sum; (out): of
  /// all warps, in each of them. By all threads of a block.
  template <class Visitor>
  __device__ void sweep(const Visitor& visitor, bool is_open, typename Visitor::Sum& sum) {
    const std::uint32_t all = memory_.begin[Memory::ranges];
    GasSweep<Visitor, typename Memory::OfWarp> sweep(tree_, own_, target_, visitor);
    typename Visitor::Sum part = sum;
    for (std::uint32_t first = 0; first < all; first += room) {
      if (all > room) write(first);
      const std::uint32_t listed = min(all - first, room);
      for (std::uint32_t begin = chunk * warp(); begin < listed; begin += chunk * large_warps) {
        const std::uint32_t size = min(listed - begin, chunk);
        __syncwarp();
        for (std::uint32_t i = static_cast<std::uint32_t>(lane_index()); i < size; i += 32)
          own_.candidates.number[i] = list_[begin + i];
        sweep.go_through({size, false}, false, is_open, part);
      }
      __syncthreads();
    }
    add_warps(part, sum);
  }

 private:
  static constexpr std::uint32_t chunk = GasChunk::most;
  static_assert(room % (chunk * large_warps) == 0);

  __device__ std::uint32_t first_node(std::uint32_t range) const {
    return static_cast<std::uint32_t>(std::uint64_t{tree_.node_count} * range / Memory::ranges);
  }

  /// The candidates of each range, then those before it.
  __device__ void count() {
    const GasGathering gathering(tree_, own_.frame);
    for (std::uint32_t range = warp(); range < Memory::ranges; range += large_warps) {
      std::uint32_t found = 0;
      gathering.go<is_symmetric>(own_.nodes, first_node(range), first_node(range + 1),
                                 [&](std::uint32_t, bool is_there) {
                                   found += static_cast<std::uint32_t>(__popc(__ballot_sync(~0U, is_there)));
                                   return true;
                                 });
      if (lane_index() == 0) memory_.begin[range + 1] = found;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      memory_.begin[0] = 0;
      for (std::uint32_t range = 0; range < Memory::ranges; ++range)
        memory_.begin[range + 1] += memory_.begin[range];
    }
    __syncthreads();
  }

  /// Lists candidates, from this one on.
  __device__ void write(std::uint32_t first) {
    const GasGathering gathering(tree_, own_.frame);
    for (std::uint32_t range = warp(); range < Memory::ranges; range += large_warps) {
      std::uint32_t at = memory_.begin[range];
      if (at >= first + room || memory_.begin[range + 1] <= first) continue;
      gathering.go<is_symmetric>(
          own_.nodes, first_node(range), first_node(range + 1), [&](std::uint32_t candidate, bool is_there) {
            const unsigned there = __ballot_sync(~0U, is_there), before = there & ((1U << lane_index()) - 1);
            const std::uint32_t place = at + static_cast<std::uint32_t>(__popc(before));
            if (is_there && place >= first && place < first + room) list_[place - first] = candidate;
            at += static_cast<std::uint32_t>(__popc(there));
            return at < first + room;
          });
    }
    __syncthreads();
  }

  /// The sum of the sums of all warps, one after the other. They lie where candidates were kept.
  template <class Sum>
  __device__ void add_warps(const Sum& part, Sum& sum) {
    static_assert(32 * sizeof(Sum) <= sizeof(Kept));
    const auto place = [&](int w) { return reinterpret_cast<Sum*>(&memory_.of_warp[w].kept) + lane_index(); };
    *place(warp()) = part;
    __syncthreads();
    for (int w = 0; w < large_warps; ++w) sum.add(*place(w));
    __syncthreads();
  }

  const NeighbourTree& tree_;
  const WarpTarget& target_;
  Memory& memory_;
  typename Memory::OfWarp& own_;  ///< of this warp
  std::uint32_t* list_;
};

}  // namespace grove::cuda
