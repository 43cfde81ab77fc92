#include <algorithm>
#include <type_traits>

#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/walk/share_queue.cuh"
#include "kernels/cuda/walk/walk_launch.cuh"

namespace grove::cuda {
namespace {

constexpr int share_threads = 128, share_warps = share_threads / 32;
/// A processor's, which leaves 80 registers to a thread.
constexpr int share_blocks = 6;

/// Walks the shares that groups have left, and what these leave.
template <Order order, class Shape, class Trees, class Targets>
__global__ void __launch_bounds__(share_threads, share_blocks)
    sum_shares(const ForceUnits units, const __grid_constant__ WalkSources sources, const WalkTargets targets,
               const __grid_constant__ ShareQueue queue, WarpStore* stores, WalkState* state) {
  __shared__ WarpMemory memory[share_warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GravityWalk<order, Shape, OtherLeaves, Trees, Targets, LimitedShare> group(
      units, sources, targets, memory[warp], stores + blockIdx.x * share_warps + warp);
  WarpTotals totals;
  while (true) {
    const std::uint32_t own = queue.take();
    if (own == SourceShare::none) break;
    SourceShare& share = queue.shares[own];
    Fault fault = group.run_part(share.number, LimitedShare(targets.share_limit / shares_divisor, share.nodes,
                                                            static_cast<int>(share.count)));
    if (fault == Fault::none) {
#pragma unroll
      for (int row = 0; row < group.rows; ++row)
        queue.totals[(std::size_t{own} * group.rows + row) * 32 + lane] = group.total(row);
      if (lane == 0) share.work = group.counts.interactions();
      totals.add(group);
      if (!group.left().is_empty() && !queue.split(group.left(), share.number, own))
        fault = Fault::shares_full;
    }
    if (fault != Fault::none && lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
    queue.finish();
  }
  if (lane == 0) totals.put(state);
}

/// The sums of some shares.
struct ShareTotals {
  Accumulator<float> sum[2];

  __device__ Accumulator<float> total(int row) const { return sum[row]; }
};

/// A warp for each group that has been split: adds its shares, each before those into which it has been
/// split.
template <class Targets>
__global__ void __launch_bounds__(share_threads)
    add_shares(const ForceUnits units, const WalkTargets targets, const ShareQueue queue,
               const ForceOutput output) {
  constexpr int rows = Targets::most / 32;
  __shared__ std::uint32_t active[share_warps][2];
  const std::uint32_t all = min(queue.state->produced, queue.capacity), lane = threadIdx.x % 32;
  for (std::uint32_t first = (blockIdx.x * share_warps + threadIdx.x / 32) * shares_per_split; first < all;
       first += gridDim.x * share_warps * shares_per_split) {
    if (queue.shares[first].parent != SourceShare::none) continue;
    Targets group(targets);
    group.load(group.group(queue.shares[first].number), active[threadIdx.x / 32]);
    ShareTotals totals{};
    std::uint32_t work = 0;
    for (std::uint32_t number = first; number != SourceShare::none; number = queue.next(number)) {
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const Accumulator<float> more = queue.totals[(std::size_t{number} * rows + row) * 32 + lane];
        totals.sum[row].acceleration += more.acceleration;
        totals.sum[row].potential += more.potential;
      }
      work += queue.shares[number].work;
    }
    group.template put<OtherLeaves, rows>(units, totals, work, output, active[threadIdx.x / 32]);
  }
}

template <Order order, class Shape, class Trees, class Targets>
void launch_shares(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                   const ForceOutput& output, WalkMemory& memory) {
  const auto kernel = sum_shares<order, Shape, Trees, Targets>;
  const int grid = blocks_at_a_time(kernel, share_threads);
  const std::size_t warps = static_cast<std::size_t>(grid) * share_warps;
  if (memory.stores.size() < warps) memory.stores = DeviceArray<WarpStore>(warps);
  const ShareQueue queue = memory.shares.view(memory.state.data());
  kernel<<<grid, share_threads, 0, stream()>>>(units, sources, targets, queue, memory.stores.data(),
                                               memory.state.data());
  const std::uint32_t splits = queue.capacity / shares_per_split;
  add_shares<Targets><<<std::min(std::uint32_t{256}, (splits + share_warps - 1) / share_warps), share_threads,
                        0, stream()>>>(units, targets, queue, output);
  launched("Grove::cuda::sum_shares", 0, 2);
}

}  // namespace

void walk_shares(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory) {
  with_order_and_shape(gravity, [&](auto order, auto shape) {
    with_trees(sources.kind, [&](auto kind) {
      using Trees = typename decltype(kind)::type;
      using Shape = decltype(shape);
      if (targets.targets_per_warp == group_size)
        launch_shares<decltype(order)::value, Shape, Trees, OneGroup>(units, sources, targets, output,
                                                                      memory);
      else if constexpr (std::is_same_v<Trees, BinaryTrees>)
        launch_shares<decltype(order)::value, Shape, Trees, TwoGroups>(units, sources, targets, output,
                                                                       memory);
    });
  });
}

}  // namespace grove::cuda
