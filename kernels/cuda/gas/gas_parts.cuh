#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/gas/gas_large.cuh"

/// Groups of targets go through their neighbours in compact parts: a warp each or, if it has too many
/// candidates, a block.
namespace grove::cuda {

/// The number of the first target of a warp.
__device__ inline std::uint32_t first_number(const WarpTarget& target) {
  const unsigned targets = __ballot_sync(~0U, target.is_target);
  return __shfl_sync(~0U, target.number, __ffs(static_cast<int>(targets)) - 1);
}

/// A part of a group whose candidates the memory of a warp holds. They are tested once.
template <bool is_symmetric, class Memory>
class SmallPart {
 public:
  __device__ SmallPart(const NeighbourTree& tree, const WarpTarget& target, const FlowSource& first,
                       Memory& memory)
      : tree_(tree), target_(target), memory_(memory) {
    memory.surround(tree, target, first);
    found_ = GasGathering(tree, memory.frame).fill<is_symmetric>(memory.nodes, memory.candidates);
  }
  __device__ bool is_whole() const { return GasCandidates::is_whole(found_); }
  const __device__ SweepFrame& frame() const { return memory_.frame; }

  /// Visits the neighbours of those targets for which this is open.
  template <class Visitor>
  __device__ void sweep(const Visitor& visitor, bool is_open, typename Visitor::Sum& sum) {
    GasSweep<Visitor, Memory> sweep(tree_, memory_, target_, visitor);
    sweep.go_through({found_, true}, is_tested_, is_open, sum);
    is_tested_ = Memory::most_tested >= GasCandidates::most_tiles;
  }

 private:
  const NeighbourTree& tree_;
  const WarpTarget& target_;
  Memory& memory_;
  std::uint32_t found_;
  bool is_tested_ = false;  ///< memory holds the hits of all tiles
};

/// Calls work(target) for each compact_part() of the open targets; it says whether that was too large.
/// Returns the targets of those that were.
template <class Work>
__device__ unsigned for_each_part(const WarpTarget& target, unsigned open, const Work& work) {
  unsigned large = 0;
  while (open != 0) {
    const unsigned part = compact_part(target, open);
    WarpTarget of_part = target;
    of_part.is_target = (part >> lane_index() & 1) != 0;
    if (!work(of_part)) large |= part;
    open &= ~part;
  }
  return large;
}

/// The memory of LargeParts, and of the lists of those who work on them.
class LargeWork {
 public:
  explicit LargeWork(const NeighbourGroups& groups) : lanes_(groups.count), group_(groups.count) {
    int device = 0, processors = 0;
    GROVE_CUDA(cudaGetDevice(&device));
    GROVE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    blocks_ = static_cast<unsigned>(processors);
    count_.clear();
  }

  LargeParts parts() { return {lanes_.data(), group_.data(), count_.data()}; }

  /// Part: LargePart; kernel: with these arguments, the parts and the lists of blocks.
  template <class Part, class... Parameters, class... Arguments>
  void start(void (*kernel)(Parameters...), const Arguments&... arguments) {
    constexpr int bytes = sizeof(typename Part::Memory);
    GROVE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const DeviceArray<std::uint32_t> lists(std::size_t{blocks_} * Part::room);
    kernel<<<blocks_, 32 * large_warps, bytes>>>(arguments..., parts(), lists.data());
  }

 private:
  DeviceArray<std::uint32_t> lanes_, group_, count_{1};
  unsigned blocks_ = 0;
};

}  // namespace grove::cuda
