#include "kernels/cuda/gas/gas_walks.hpp"

#include <algorithm>

#include "kernels/cuda/neighbours/neighbour_walk.cuh"

namespace grove::cuda {
namespace {

/// Sources of the flow in a ring, as columns: lanes read them at different places.
struct KeptFlow {
  static constexpr std::uint32_t window = 128;
  double mass[window], x[window], y[window], z[window];  ///< x, y, z: the velocity
};

/// A trial of H in the search for it.
struct SumDensity {
  using Kept = KeptFlow;
  struct Sum {
    DensitySum density;
    double per_support;  ///< 1 / H
  };
  SmoothingKernel kernel;
  const FlowSource* sources;

  __device__ void keep(Kept& kept, const CandidateRun& run, std::uint32_t at) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    if (run.has(lane)) kept.mass[ring_place<Kept>(at, run.before(lane))] = sources[run.first + lane].mass;
  }
  __device__ void visit(Sum& sum, const WarpTarget&, const Kept& kept, std::uint32_t place, const Vec3d&,
                        double r2) const {
    const double r = Distance::of(r2).r;
    sum.density.add(kept.mass[place], kernel_within(kernel, r, sum.per_support), r);
  }
};

struct SumFlow {
  using Kept = KeptFlow;
  struct Sum {
    FlowSum flow;
    double per_support;  ///< 1 / H
    Vec3d velocity;
  };
  SmoothingKernel kernel;
  const FlowSource* sources;

  __device__ void keep(Kept& kept, const CandidateRun& run, std::uint32_t at) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    if (!run.has(lane)) return;
    const FlowSource source = sources[run.first + lane];
    const std::uint32_t place = ring_place<Kept>(at, run.before(lane));
    kept.mass[place] = source.mass;
    kept.x[place] = source.velocity.x;
    kept.y[place] = source.velocity.y;
    kept.z[place] = source.velocity.z;
  }
  __device__ void visit(Sum& sum, const WarpTarget&, const Kept& kept, std::uint32_t place, const Vec3d& d,
                        double r2) const {
    const Distance distance = Distance::of(r2);
    const double mass = kept.mass[place];
    const KernelValue w = kernel_within(kernel, distance.r, sum.per_support);
    sum.flow.add(mass, w, distance.r, -mass * w.slope * distance.per_r, d,
                 Vec3d{kept.x[place], kept.y[place], kept.z[place]} - sum.velocity);
  }
};

struct WantDensity {
  const std::uint8_t* is_wanted;
  __device__ bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
};

/// The densities of a group, by a sweep through its candidates for each trial of H, and one for the flow.
/// Candidates are gathered once, or, where there are more than one gathering holds, for each sweep.
class GroupDensities {
 public:
  using Memory = WalkMemory<false, KeptFlow>;

  __device__ GroupDensities(const NeighbourTree& tree, const DensityFields& fields, const WarpTarget& target,
                            Memory& memory)
      : tree_(tree), fields_(fields), target_(target), memory_(memory), gathering_(tree, memory.box) {
    memory.surround(target, tree.nearest);
  }

  __device__ void find() {
    const std::uint32_t i = target_.number;
    SupportSearch search(0, 0, 0);
    if (target_.is_target)
      search = {neighbours_of(fields_.gas.kernel) * fields_.sources[i].mass, fields_.radius[i],
                fields_.first[i]};
    while (__any_sync(~0U, target_.is_target && !search.is_done())) {
      SumDensity::Sum sum{};
      const bool is_open = target_.is_target && !search.is_done();
      const double H = search.H();
      if (is_open) sum = {fields_.own_density(i, H), 1 / H};
      sweep(SumDensity{fields_.gas.kernel, fields_.sources}, is_open, H, sum);
      if (!is_open) continue;
      search.take(sum.density);
      if (search.H() == 0) fields_.search_farther(i, sum.density);
    }
    find_flow(target_.is_target && search.H() > 0, search.H());
  }

 private:
  __device__ void find_flow(bool is_found, double H) {
    if (!__any_sync(~0U, is_found)) return;
    SumFlow::Sum sum{};
    const std::uint32_t i = target_.number;
    if (is_found) sum = {{fields_.own_density(i, H)}, 1 / H, fields_.sources[i].velocity};
    sweep(SumFlow{fields_.gas.kernel, fields_.sources}, is_found, H, sum);
    if (is_found) fields_.store(i, H, sum.flow);
  }

  /// Visits all neighbours within H of those targets for which this is open.
  template <class Visitor>
  __device__ void sweep(const Visitor& visitor, bool is_open, double H, typename Visitor::Sum& sum) {
    const WarpTarget target{target_.number, is_open, target_.place, H};
    NeighbourSweep<false, Visitor> sweep(tree_, memory_, target, visitor);
    if (!is_whole_) gathering_.restart();
    bool is_first = true;
    do {
      if (!is_whole_) {
        runs_ = gathering_.fill<false>(memory_.nodes, memory_.runs);
        is_whole_ = is_first && gathering_.is_done();
        is_first = false;
      }
      sweep.go_through(runs_, sum);
    } while (!gathering_.is_done());
  }

  const NeighbourTree& tree_;
  const DensityFields& fields_;
  const WarpTarget& target_;
  Memory& memory_;
  NeighbourGathering gathering_;
  std::uint32_t runs_ = 0;
  bool is_whole_ = false;  ///< memory holds all candidates
};

__global__ void __launch_bounds__(32 * walk_warps, walk_blocks<GroupDensities::Memory>)
    find_group_densities(const NeighbourTree tree, const NeighbourGroups groups, const WantDensity wanted,
                         const DensityFields fields) {
  __shared__ GroupDensities::Memory memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  const WarpTarget target = target_in(tree, groups, group, wanted);
  if (!__any_sync(~0U, target.is_target)) return;
  GroupDensities(tree, fields, target, memories[warp]).find();
}

/// FindRates with the sources in shared memory.
struct SweepRates {
  using Sum = FindRates::Sum;
  struct Kept {
    static constexpr std::uint32_t window = 96;
    GasSource source[window];
  };
  FindRates find;

  __device__ bool is_target(std::uint32_t i) const { return find.is_target(i); }
  __device__ Sum start(std::uint32_t i) const { return find.start(i); }
  __device__ void finish(std::uint32_t i, const Sum& sum) const { find.finish(i, sum); }

  /// Lanes copy words that are beside each other. An odd number of them makes up a source, so that lanes that
  /// read at different places hardly share banks.
  __device__ void keep(Kept& kept, const CandidateRun& run, std::uint32_t at) const {
    constexpr std::uint32_t words = sizeof(GasSource) / sizeof(std::uint64_t);
    static_assert(sizeof(GasSource) == words * sizeof(std::uint64_t) && words % 2 == 1);
    const auto* const from = reinterpret_cast<const std::uint64_t*>(find.sources + run.first);
    auto* const to = reinterpret_cast<std::uint64_t*>(kept.source);
    const auto lane = static_cast<std::uint32_t>(lane_index());
    std::uint64_t copied[words] = {};
#pragma unroll
    for (std::uint32_t w = 0; w < words; ++w)
      if (run.has((32 * w + lane) / words)) copied[w] = from[32 * w + lane];
#pragma unroll
    for (std::uint32_t w = 0; w < words; ++w) {
      const std::uint32_t source = (32 * w + lane) / words;
      if (run.has(source))
        to[ring_place<Kept>(at, run.before(source)) * words + (32 * w + lane) % words] = copied[w];
    }
  }
  __device__ void visit(Sum& sum, const WarpTarget&, const Kept& kept, std::uint32_t place, const Vec3d& d,
                        double r2) const {
    add_pair(sum.rates, find.gas, sum.own, kept.source[place], d, Distance::of(r2), find.hubble);
  }
};

struct RaiseOnDevice {
  GROVE_HOST_DEVICE void operator()(std::uint32_t& number, std::uint32_t wanted) const {
#if defined(__CUDA_ARCH__)
    atomicMax(&number, wanted);
#else
    number = std::max(number, wanted);
#endif
  }
};

}  // namespace

void find_densities(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_wanted,
                    const DensityFields& fields) {
  if (groups.count == 0) return;
  find_group_densities<<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, WantDensity{is_wanted}, fields);
  launched("Grove::cuda::find_densities");
}

void find_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& visitor) {
  sweep_neighbour_groups(tree, groups, SweepRates{visitor}, "Grove::cuda::find_rates");
}

void ask_neighbours(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_asking,
                    const std::uint8_t* rung, std::uint32_t* least) {
  walk_neighbour_groups(tree, groups, AskNeighbours<RaiseOnDevice>{is_asking, rung, least, {}},
                        "Grove::cuda::ask_neighbours");
}

}  // namespace grove::cuda
