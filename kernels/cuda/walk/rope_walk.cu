#include "kernels/cuda/walk/rope_walk.hpp"

#include <stdexcept>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/walk/rope_trees.cuh"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/rope_walk.hpp"
#include "kernels/math/softening_shape.hpp"
#include "kernels/math/target_visitor.hpp"

namespace grove::cuda {
namespace {

constexpr int rope_threads = 128;
constexpr int blocks_at_once = 10;  ///< on a multiprocessor: as many as monopoles allow without spilling

struct RopeRule {
  AcceptanceRule acceptance;
  double per_acceleration;  ///< from units of the run to walk units
  ForceUnits units;
};

struct RopeState {
  unsigned long long node, particle, tests;
  int is_pruned;  ///< whether a pruned node was to be opened
};

/// The leaf of a particle: the last one that begins at or before it.
__device__ std::uint32_t leaf_of(const LeafTrees& trees, std::uint64_t particle) {
  std::uint32_t low = 0, high = trees.count;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    if (trees.leaves[middle].first <= particle)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// By cell: of a left child the code of its sibling, of a right one the rope of its parent.
__global__ void __launch_bounds__(rope_threads)
    make_ropes(const TopCells cells, const NodeLinks* links, std::uint32_t* next) {
  const auto cell = static_cast<std::int32_t>(blockIdx.x * rope_threads + threadIdx.x);
  if (cell >= cells.count) return;
  std::uint32_t rope = rope_end;
  for (std::int32_t c = cell; cells.parent[c] >= 0; c = cells.parent[c]) {
    const std::int32_t up = cells.parent[c];
    if (c != cells.links[up].child) continue;
    rope = static_cast<std::uint32_t>(links[up].next);
    break;
  }
  next[cell] = rope;
}

/// Targets of one warp that go together: its lanes read the same nodes at the same time. All of them walk.
struct WarpPace : NextOnWay {
  __device__ static bool any(bool own) { return __any_sync(~0U, own); }
};

/// True if the targets of the warp are so close in tree order that they go nearly the same way.
__device__ bool are_neighbours(std::uint64_t p) {
  constexpr std::uint64_t most_apart = 256;
  const std::uint64_t first = __shfl_sync(~0U, p, 0);
  return __all_sync(~0U, p < first + most_apart && first < p + most_apart);
}

__device__ void add_to_state(std::uint32_t node, std::uint32_t particle, std::uint32_t tests,
                             RopeState* state) {
  const unsigned all[] = {__reduce_add_sync(~0u, node), __reduce_add_sync(~0u, particle),
                          __reduce_add_sync(~0u, tests)};
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&state->node, std::uint64_t{all[0]});
  atomicAdd(&state->particle, std::uint64_t{all[1]});
  atomicAdd(&state->tests, std::uint64_t{all[2]});
}

template <class Acceptance, Order order, class Shape>
__global__ void __launch_bounds__(rope_threads, blocks_at_once)
    follow(const RopeRule rule, const WalkSources sources, const RopeCells above, const RopeTargets targets,
           const ForceOutput out, RopeState* state) {
  const std::uint32_t t = blockIdx.x * rope_threads + threadIdx.x;
  const std::uint32_t number = min(t, targets.count - 1);
  const std::uint64_t p = targets.particles ? targets.particles[number] : number;
  const std::uint32_t leaf = leaf_of(targets.trees, p);
  const RopeTarget target{static_cast<std::int32_t>(leaf),
                          static_cast<std::int32_t>(p - targets.trees.leaves[leaf].first),
                          targets.trees.sources[p].position};
  const auto old_acceleration = static_cast<float>(targets.old_acceleration[p] * rule.per_acceleration);
  TargetVisitor gravity(Acceptance(rule.acceptance.inverse_tolerance(old_acceleration)),
                        TargetExpansion<order, Shape>(targets.trees.softening[p]));
  const DeviceRopeTrees trees(sources, above, target.leaf);
  std::uint32_t nodes = 0, particles = 0, tests = 0;
  const auto go = [&]<class Pace>(Pace) {
    RopeWalk<DeviceRopeTrees, decltype(gravity), Pace> walk(trees, target, gravity);
    if (!walk.run()) atomicMax(&state->is_pruned, 1);
    nodes = walk.nodes, particles = walk.particles, tests = walk.tests;
  };
  const bool is_target = t < targets.count;
  if (are_neighbours(p))
    go(WarpPace{});
  else if (is_target)
    go(OwnPace{});
  __syncwarp();
  if (is_target)
    out.set(p, rule.units.acceleration_of(gravity.sum.acceleration),
            rule.units.potential_of(gravity.sum.potential), nodes + particles);
  __syncwarp();
  add_to_state(is_target ? nodes : 0, is_target ? particles : 0, is_target ? tests : 0, state);
}

}  // namespace

DeviceArray<std::uint32_t> top_ropes(const TopSources& above, const TopCells& cells) {
  DeviceArray<std::uint32_t> next(static_cast<std::size_t>(cells.count));
  if (cells.count == 0) return next;
  make_ropes<<<blocks_for(next.size(), rope_threads), rope_threads>>>(cells, above.cells.links, next.data());
  launched("Grove::cuda::top_ropes");
  return next;
}

WalkCounts rope_walk(const GravityParameters& gravity, const WalkUnits& units, double median_acceleration,
                     const WalkSources& sources, const RopeCells& above, const RopeTargets& targets,
                     const ForceOutput& output) {
  if (targets.count == 0) return {};
  const RopeRule rule{AcceptanceRule::of(gravity, units, median_acceleration),
                      to_walk_acceleration(1, gravity.gravitational_constant, units),
                      ForceUnits::of(gravity, units)};
  DeviceArray<RopeState> state(1);
  state.clear();
  const auto kernel = with_order_and_shape(gravity, [&](auto order, auto shape) {
    return rule.acceptance.needs_boxes() ? follow<EdgeAcceptance, decltype(order)::value, decltype(shape)>
                                         : follow<TargetAcceptance, decltype(order)::value, decltype(shape)>;
  });
  kernel<<<blocks_for(targets.count, rope_threads), rope_threads>>>(rule, sources, above, targets, output,
                                                                    state.data());
  launched("Grove::cuda::rope_walk");
  RopeState result;
  state.download(std::span(&result, 1));
  if (result.is_pruned) throw OpensPruned("rope walk: a particle opens what was not sent for it");
  return {static_cast<std::int64_t>(result.node), static_cast<std::int64_t>(result.particle),
          static_cast<std::int64_t>(result.tests)};
}

}  // namespace grove::cuda
