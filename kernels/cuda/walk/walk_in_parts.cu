#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/walk/walk_launch.cuh"

namespace grove::cuda {
namespace {

constexpr int part_threads = 128;
constexpr int part_warps = part_threads / 32;
/// That leaves 80 registers to a thread: expansions spill nothing, and walks of few groups take 4 % less.
constexpr int blocks_per_processor = 6;

/// The sums of each part of each group.
struct PartSums {
  Accumulator<float>* sum;  ///< [groups][parts][32]
  std::uint32_t* work;      ///< [groups][parts]
};

template <Order order, class Shape, class Scope, class Trees>
__global__ void __launch_bounds__(part_threads, blocks_per_processor)
    sum_parts(const ForceUnits units, const __grid_constant__ WalkSources sources, const WalkTargets targets,
              const PartSums sums, WarpStore* stores, WalkState* state) {
  __shared__ WarpMemory memory[part_warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GravityWalk<order, Shape, Scope, Trees, OneGroup, PartOfSources> group(
      units, sources, targets, memory[warp], stores + blockIdx.x * part_warps + warp);
  WarpTotals totals;
  const auto parts = static_cast<std::uint32_t>(targets.parts);
  while (true) {
    const std::uint32_t unit = next_unit(state);
    if (unit >= targets.groups * parts) break;
    const Fault fault = group.run_part(unit / parts, {static_cast<int>(unit % parts), targets.parts});
    if (fault != Fault::none) {
      if (lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
      break;
    }
    sums.sum[std::size_t{unit} * 32 + static_cast<std::size_t>(lane)] = group.total(0);
    if (lane == 0) sums.work[unit] = group.counts.interactions();
    totals.add(group);
  }
  if (lane == 0) totals.put(state);
}

/// A warp per group, a lane per target.
template <class Scope>
__global__ void __launch_bounds__(part_threads)
    add_parts(const ForceUnits units, const WalkTargets targets, const PartSums sums, const ForceOutput out) {
  const std::uint32_t number = blockIdx.x * part_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (number >= targets.groups) return;
  const std::uint32_t g = targets.active ? targets.active[number] : number;
  const Group& group = targets.trees.groups[g];
  if (static_cast<std::int32_t>(lane) >= group.count || !(group.active >> lane & 1U)) return;
  Accumulator<float> sum{{0, 0, 0}, 0};
  std::uint32_t work = 0;
  const auto parts = static_cast<std::uint32_t>(targets.parts);
  for (std::size_t unit = std::size_t{number} * parts; unit < std::size_t{number + 1} * parts; ++unit) {
    const Accumulator<float> one = sums.sum[unit * 32 + lane];
    sum.acceleration += one.acceleration;
    sum.potential += one.potential;
    work += sums.work[unit];
  }
  const std::uint64_t first =
      targets.trees.leaves[targets.leaf_of_group[g]].first + static_cast<std::uint64_t>(group.first);
  put_force<Scope>(units, sum, work, static_cast<std::uint32_t>(first) + lane, out);
}

template <Order order, class Shape, class Scope, class Trees>
void launch_parts(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                  WalkMemory& memory) {
  const auto kernel = sum_parts<order, Shape, Scope, Trees>;
  const int grid = blocks_at_a_time(kernel, part_threads);
  memory.stores = DeviceArray<WarpStore>(static_cast<std::size_t>(grid) * part_warps);
  kernel<<<grid, part_threads, 0, stream()>>>(units, sources, targets,
                                              PartSums{memory.sum.data(), memory.work.data()},
                                              memory.stores.data(), memory.state.data());
  launched("Grove::cuda::sum_parts");
}

template <Order order, class Shape, class Scope>
void launch_for_trees(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                      WalkMemory& memory) {
  with_trees(sources.kind, [&](auto kind) {
    launch_parts<order, Shape, Scope, typename decltype(kind)::type>(units, sources, targets, memory);
  });
}

}  // namespace

template <class Scope>
void walk_in_parts(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                   const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory) {
  const std::size_t shares = std::size_t{targets.groups} * static_cast<std::size_t>(targets.parts);
  memory.sum = DeviceArray<Accumulator<float>>(shares * 32);
  memory.work = DeviceArray<std::uint32_t>(shares);
  with_order_and_shape(gravity, [&](auto order, auto shape) {
    launch_for_trees<decltype(order)::value, decltype(shape), Scope>(units, sources, targets, memory);
  });
  add_parts<Scope><<<(targets.groups + part_warps - 1) / part_warps, part_threads, 0, stream()>>>(
      units, targets, PartSums{memory.sum.data(), memory.work.data()}, output);
  launched("Grove::cuda::add_parts");
}

template void walk_in_parts<OwnLeaf>(const GravityParameters&, const ForceUnits&, const WalkSources&,
                                     const WalkTargets&, const ForceOutput&, WalkMemory&);
template void walk_in_parts<OtherLeaves>(const GravityParameters&, const ForceUnits&, const WalkSources&,
                                         const WalkTargets&, const ForceOutput&, WalkMemory&);

}  // namespace grove::cuda
