#include "kernels/cuda/gas/gas_walks.hpp"

#include <algorithm>

#include "kernels/cuda/gas/gas_sweep.cuh"

namespace grove::cuda {
namespace {

/// Candidates as the flow needs them.
struct KeptFlow {
  float4 place[gas_window];     ///< w: mass
  float4 velocity[gas_window];  ///< w: nothing
};

/// A trial of H in the search for it. Units: SweepFrame.
struct SumDensity {
  using Kept = KeptFlow;
  static constexpr bool is_symmetric = false;
  struct Sum {
    float value, slope;  ///< of m W(q) and of m q dW/dq at H = 1
    float per_support;   ///< 1 / H

    __device__ DensitySum in(const SweepFrame& frame, double H) const {
      const double scale = frame.mass / (H * H * H);
      return {scale * value, scale * (3.0 * value + slope)};
    }
  };
  SmoothingKernel kernel;
  const FlowSource* sources;
  const SweepFrame& frame;

  __device__ float keep(Kept& kept, std::uint32_t at, std::uint32_t number, const Vec3f& offset) const {
    const auto mass = static_cast<float>(frame.per_mass * sources[number].mass);
    kept.place[at] = {offset.x, offset.y, offset.z, mass};
    return 0;
  }
  __device__ void visit(Sum& sum, const Kept& kept, std::uint32_t at, const Vec3f&, float r2) const {
    const float mass = kept.place[at].w, q = fminf(1, DistanceOf<float>::of(r2).r * sum.per_support);
    const KernelValueOf<float> w = kernel_within(kernel, q, 1.0F);
    sum.value += mass * w.value;
    sum.slope += mass * q * w.slope;
  }
};

struct SumFlow {
  using Kept = KeptFlow;
  static constexpr bool is_symmetric = false;
  struct Sum {
    SumDensity::Sum density;
    Vec3f velocity;    ///< of the target
    float divergence;  ///< of -m dW/dq / r v . d
    Vec3f curl;

    __device__ FlowSum in(const SweepFrame& frame, double H) const {
      const double scale = frame.mass / (H * H * H * H);
      return {density.in(frame, H), scale * divergence, scale * curl.as<double>()};
    }
  };
  SmoothingKernel kernel;
  const FlowSource* sources;
  const SweepFrame& frame;

  __device__ Vec3f velocity_of(const FlowSource& source) const {
    return (source.velocity - frame.velocity).as<float>();
  }
  __device__ float keep(Kept& kept, std::uint32_t at, std::uint32_t number, const Vec3f& offset) const {
    const FlowSource source = sources[number];
    const Vec3f v = velocity_of(source);
    kept.place[at] = {offset.x, offset.y, offset.z, static_cast<float>(frame.per_mass * source.mass)};
    kept.velocity[at] = {v.x, v.y, v.z, 0};
    return 0;
  }
  __device__ void visit(Sum& sum, const Kept& kept, std::uint32_t at, const Vec3f& d, float r2) const {
    const DistanceOf<float> distance = DistanceOf<float>::of(r2);
    const float mass = kept.place[at].w, q = fminf(1, distance.r * sum.density.per_support);
    const KernelValueOf<float> w = kernel_within(kernel, q, 1.0F);
    sum.density.value += mass * w.value;
    sum.density.slope += mass * q * w.slope;
    const float4 velocity = kept.velocity[at];
    const Vec3f v = Vec3f{velocity.x, velocity.y, velocity.z} - sum.velocity;
    const float weight = -mass * w.slope * distance.per_r;
    sum.divergence += weight * dot(v, d);
    sum.curl += weight * cross(v, d);
  }
};

struct WantDensity {
  const std::uint8_t* is_wanted;
  __device__ bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
};

/// The number of the first target of a warp.
__device__ std::uint32_t first_number(const WarpTarget& target) {
  const unsigned targets = __ballot_sync(~0U, target.is_target);
  return __shfl_sync(~0U, target.number, __ffs(static_cast<int>(targets)) - 1);
}

/// Gathers candidates. is_first: none of the group have been gathered before.
template <class Visitor, class Memory>
__device__ GasTiles gathered_tiles(GasGathering& gathering, Memory& memory, bool is_first) {
  const std::uint32_t filled = gathering.fill<Visitor::is_symmetric>(memory.nodes, memory.candidates);
  return {filled, is_first && GasCandidates::is_whole(filled)};
}

using DensitiesMemory = GasMemory<KeptFlow, GasCandidates::most_tiles>;

/// The densities of targets with a kernel, by a sweep through their candidates for each trial of H, and one
/// for the flow. Candidates are gathered and tested once, or, where there are more than memory holds, for
/// each sweep.
template <SmoothingKernel kernel>
class PartDensities {
 public:
  __device__ PartDensities(const NeighbourTree& tree, const DensityFields& fields, const WarpTarget& target,
                           DensitiesMemory& memory)
      : tree_(tree), fields_(fields), target_(target), memory_(memory), gathering_(tree, memory.frame) {
    memory.surround(tree, target, fields.sources[first_number(target)]);
  }

  __device__ void find() {
    const std::uint32_t i = target_.number;
    SupportSearch search(0, 0, 0);
    if (target_.is_target)
      search = {neighbours_of(kernel) * fields_.sources[i].mass, fields_.radius[i], fields_.first[i]};
    while (__any_sync(~0U, target_.is_target && !search.is_done())) {
      const bool is_open = target_.is_target && !search.is_done();
      const double H = search.H();
      SumDensity::Sum sum{0, 0, per_support(is_open, H)};
      sweep(SumDensity{kernel, fields_.sources, memory_.frame}, is_open, sum);
      if (!is_open) continue;
      const DensitySum density = sum.in(memory_.frame, H);
      search.take(density);
      if (search.H() == 0) fields_.search_farther(i, density);
    }
    find_flow(target_.is_target && search.H() > 0, search.H());
  }

 private:
  __device__ float per_support(bool is_open, double H) const {
    return is_open ? static_cast<float>(memory_.frame.extent / H) : 0;
  }

  __device__ void find_flow(bool is_found, double H) {
    if (!__any_sync(~0U, is_found)) return;
    const std::uint32_t i = target_.number;
    const SumFlow visitor{kernel, fields_.sources, memory_.frame};
    SumFlow::Sum sum{{0, 0, per_support(is_found, H)}, {0, 0, 0}, 0, {0, 0, 0}};
    if (is_found) sum.velocity = visitor.velocity_of(fields_.sources[i]);
    sweep(visitor, is_found, sum);
    if (is_found) fields_.store(i, H, sum.in(memory_.frame, H));
  }

  /// Visits the neighbours of those targets for which this is open.
  template <class Visitor>
  __device__ void sweep(const Visitor& visitor, bool is_open, typename Visitor::Sum& sum) {
    GasSweep<Visitor, GasCandidates::most_tiles> sweep(tree_, memory_, target_, visitor);
    if (!tiles_.are_mixed) gathering_.restart();
    bool is_first = true;
    do {
      if (!is_tested_) tiles_ = gathered_tiles<Visitor>(gathering_, memory_, is_first);
      is_first = false;
      sweep.go_through(tiles_, is_tested_, is_open, sum);
    } while (!gathering_.is_done());
    is_tested_ = tiles_.are_mixed;
  }

  const NeighbourTree& tree_;
  const DensityFields& fields_;
  const WarpTarget& target_;
  DensitiesMemory& memory_;
  GasGathering gathering_;
  GasTiles tiles_{};
  bool is_tested_ = false;  ///< memory holds all candidates, and their hits
};

template <SmoothingKernel kernel>
__global__ void __launch_bounds__(32 * walk_warps, walk_blocks<DensitiesMemory>)
    find_group_densities(const NeighbourTree tree, const NeighbourGroups groups, const WantDensity wanted,
                         const DensityFields fields) {
  __shared__ DensitiesMemory memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  const WarpTarget target = target_in(tree, groups, group, wanted);
  unsigned open = __ballot_sync(~0U, target.is_target);
  while (open != 0) {
    const unsigned part = compact_part(target, open);
    WarpTarget of_part = target;
    of_part.is_target = (part >> lane_index() & 1) != 0;
    PartDensities<kernel>(tree, fields, of_part, memories[warp]).find();
    open &= ~part;
  }
}

/// Rates of change in units of a SweepFrame and of one velocity.
struct SweepRates {
  struct Kept {
    float4 place[gas_window];     ///< w: 1 / H
    float4 velocity[gas_window];  ///< w: mass
    float4 state[gas_window];     ///< density, pressure term, sound speed, Balsara's factor
  };
  static constexpr bool is_symmetric = true;
  struct Sum {
    GasRatesOf<float> rates;
    GasSourceOf<float> own;
  };
  const GasSource* sources;
  GasParameters gas;
  const SweepFrame& frame;
  double velocity, per_velocity, per_density, per_pressure_term;
  float hubble;

  __device__ SweepRates(const FindRates& find, const SweepFrame& of, double fastest)
      : sources(find.sources),
        gas(find.gas),
        frame(of),
        velocity(fastest),
        per_velocity(1 / fastest),
        per_density(of.extent * of.extent * of.extent * of.per_mass),
        per_pressure_term(per_velocity * per_velocity / per_density),
        hubble(static_cast<float>(find.hubble * of.extent * per_velocity)) {}

  __device__ GasSourceOf<float> source(std::uint32_t number) const {
    const GasSource s = sources[number];
    return {(per_velocity * (s.velocity - frame.velocity)).as<float>(),
            static_cast<float>(frame.per_mass * s.mass),
            static_cast<float>(per_density * s.density),
            static_cast<float>(per_pressure_term * s.pressure_term),
            static_cast<float>(per_velocity * s.sound_speed),
            static_cast<float>(s.balsara),
            static_cast<float>(frame.extent * s.per_support)};
  }
  __device__ float keep(Kept& kept, std::uint32_t at, std::uint32_t number, const Vec3f& offset) const {
    const GasSourceOf<float> s = source(number);
    kept.place[at] = {offset.x, offset.y, offset.z, s.per_support};
    kept.velocity[at] = {s.velocity.x, s.velocity.y, s.velocity.z, s.mass};
    kept.state[at] = {s.density, s.pressure_term, s.sound_speed, s.balsara};
    return quotient(1.0F, s.per_support * s.per_support);
  }
  __device__ void visit(Sum& sum, const Kept& kept, std::uint32_t at, const Vec3f& d, float r2) const {
    const float per_support = kept.place[at].w;
    const float4 velocity = kept.velocity[at], state = kept.state[at];
    add_pair(
        sum.rates, gas, sum.own,
        {{velocity.x, velocity.y, velocity.z}, velocity.w, state.x, state.y, state.z, state.w, per_support},
        d, DistanceOf<float>::of(r2), hubble);
  }
  /// The rates in units of the run.
  __device__ GasRates in_run(const GasRatesOf<float>& rates) const {
    const double force = velocity * velocity * frame.per_extent;
    return {force * rates.acceleration.as<double>(), force * velocity * rates.heating,
            velocity * rates.signal_speed};
  }
};

using RatesMemory = GasMemory<SweepRates::Kept, gas_tiles>;

__device__ void find_part_rates(const NeighbourTree& tree, const FindRates& find, double fastest,
                                const WarpTarget& target, RatesMemory& memory) {
  const GasSource& first = find.sources[first_number(target)];
  memory.surround(tree, target, {first.velocity, first.mass});
  const SweepRates visitor(find, memory.frame, fastest);
  SweepRates::Sum sum{};
  if (target.is_target) sum.own = visitor.source(target.number);
  GasGathering gathering(tree, memory.frame);
  GasSweep<SweepRates, gas_tiles> sweep(tree, memory, target, visitor);
  for (bool is_first = true; !gathering.is_done(); is_first = false)
    sweep.go_through(gathered_tiles<SweepRates>(gathering, memory, is_first), false, target.is_target, sum);
  if (target.is_target) find.rates[target.number] = visitor.in_run(sum.rates);
}

/// kernel, formulation: those of `find`, as constants.
template <SmoothingKernel kernel, GasFormulation formulation>
__global__ void __launch_bounds__(32 * walk_warps, walk_blocks<RatesMemory>)
    find_group_rates(const NeighbourTree tree, const NeighbourGroups groups, const FindRates all,
                     const double fastest) {
  FindRates find = all;
  find.gas.kernel = kernel, find.gas.formulation = formulation;
  __shared__ RatesMemory memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  const WarpTarget target = target_in(tree, groups, group, find);
  unsigned open = __ballot_sync(~0U, target.is_target);
  while (open != 0) {
    const unsigned part = compact_part(target, open);
    WarpTarget of_part = target;
    of_part.is_target = (part >> lane_index() & 1) != 0;
    find_part_rates(tree, find, fastest, of_part, memories[warp]);
    open &= ~part;
  }
}

template <SmoothingKernel kernel>
void start_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& find,
                 double fastest) {
  if (find.gas.formulation == GasFormulation::grad_h)
    find_group_rates<kernel, GasFormulation::grad_h>
        <<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, find, fastest);
  else
    find_group_rates<kernel, GasFormulation::paper>
        <<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, find, fastest);
}

template <SmoothingKernel kernel>
void start_densities(const NeighbourTree& tree, const NeighbourGroups& groups, const WantDensity& wanted,
                     const DensityFields& fields) {
  find_group_densities<kernel><<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, wanted, fields);
}

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
  const auto start = fields.gas.kernel == SmoothingKernel::wendland_c2
                         ? start_densities<SmoothingKernel::wendland_c2>
                         : start_densities<SmoothingKernel::cubic_spline>;
  start(tree, groups, WantDensity{is_wanted}, fields);
  launched("Grove::cuda::find_densities");
}

void find_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& visitor,
                double fastest) {
  if (groups.count == 0) return;
  const auto start = visitor.gas.kernel == SmoothingKernel::wendland_c2
                         ? start_rates<SmoothingKernel::wendland_c2>
                         : start_rates<SmoothingKernel::cubic_spline>;
  start(tree, groups, visitor, fastest);
  launched("Grove::cuda::find_rates");
}

void ask_neighbours(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_asking,
                    const std::uint8_t* rung, std::uint32_t* least) {
  walk_neighbour_groups(tree, groups, AskNeighbours<RaiseOnDevice>{is_asking, rung, least, {}},
                        "Grove::cuda::ask_neighbours");
}

}  // namespace grove::cuda
