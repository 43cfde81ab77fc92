#include "kernels/cuda/gas/gas_walks.hpp"

#include <algorithm>

#include "kernels/cuda/gas/gas_parts.cuh"
#include "kernels/cuda/neighbours/lowest_of_nodes.hpp"

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

    __device__ void add(const Sum& other) {
      value += other.value;
      slope += other.slope;
    }
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

    __device__ void add(const Sum& other) {
      density.add(other.density);
      divergence += other.divergence;
      curl += other.curl;
    }
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

using DensitiesMemory = GasMemory<KeptFlow, GasCandidates::most_tiles>;

/// The densities of targets with a kernel, by a sweep through their candidates for each trial of H, and one
/// for the flow.
template <SmoothingKernel kernel, class Part>
class PartDensities {
 public:
  /// writes: this warp says what is found.
  __device__ PartDensities(const DensityFields& fields, const WarpTarget& target, bool writes, Part& part)
      : fields_(fields), target_(target), writes_(writes), part_(part) {}

  __device__ void find() {
    const std::uint32_t i = target_.number;
    SupportSearch search(0, 0, 0);
    if (target_.is_target)
      search = {neighbours_of(kernel) * fields_.sources[i].mass, fields_.radius[i], fields_.first[i]};
    while (__any_sync(~0U, target_.is_target && !search.is_done())) {
      const bool is_open = target_.is_target && !search.is_done();
      const double H = search.H();
      SumDensity::Sum sum{0, 0, per_support(is_open, H)};
      part_.sweep(SumDensity{kernel, fields_.sources, part_.frame()}, is_open, sum);
      if (!is_open) continue;
      const DensitySum density = sum.in(part_.frame(), H);
      search.take(density);
      if (search.H() == 0 && writes_) fields_.search_farther(i, density);
    }
    find_flow(target_.is_target && search.H() > 0, search.H());
  }

 private:
  __device__ float per_support(bool is_open, double H) const {
    return is_open ? static_cast<float>(part_.frame().extent / H) : 0;
  }

  __device__ void find_flow(bool is_found, double H) {
    if (!__any_sync(~0U, is_found)) return;
    const std::uint32_t i = target_.number;
    const SumFlow visitor{kernel, fields_.sources, part_.frame()};
    SumFlow::Sum sum{{0, 0, per_support(is_found, H)}, {0, 0, 0}, 0, {0, 0, 0}};
    if (is_found) sum.velocity = visitor.velocity_of(fields_.sources[i]);
    part_.sweep(visitor, is_found, sum);
    if (is_found && writes_) fields_.store(i, H, sum.in(part_.frame(), H));
  }

  const DensityFields& fields_;
  const WarpTarget& target_;
  bool writes_;
  Part& part_;
};

template <SmoothingKernel kernel>
__global__ void __launch_bounds__(32 * walk_warps, walk_blocks<DensitiesMemory>)
    find_group_densities(const NeighbourTree tree, const NeighbourGroups groups, const WantDensity wanted,
                         const DensityFields fields, const LargeParts large) {
  __shared__ DensitiesMemory memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  using Part = SmallPart<false, DensitiesMemory>;
  const WarpTarget target = target_in(tree, groups, group, wanted);
  large.add(group, for_each_part(target, __ballot_sync(~0U, target.is_target), [&](const WarpTarget& some) {
              Part part(tree, some, fields.sources[first_number(some)], memories[warp]);
              if (part.is_whole()) PartDensities<kernel, Part>(fields, some, true, part).find();
              return part.is_whole();
            }));
}

using LargeDensities = LargePart<KeptFlow, false>;

template <SmoothingKernel kernel>
__global__ void __launch_bounds__(32 * large_warps)
    find_large_densities(const NeighbourTree tree, const NeighbourGroups groups, const WantDensity wanted,
                         const DensityFields fields, const LargeParts large, std::uint32_t* lists) {
  extern __shared__ uint4 shared[];
  auto& memory = *reinterpret_cast<LargeDensities::Memory*>(shared);
  for (std::uint32_t n = blockIdx.x; n < *large.count; n += gridDim.x) {
    const std::uint32_t group = large.group[n];
    for_each_part(target_in(tree, groups, group, wanted), large.lanes[group], [&](const WarpTarget& some) {
      LargeDensities part(tree, some, fields.sources[first_number(some)], memory,
                          lists + std::size_t{blockIdx.x} * LargeDensities::room);
      PartDensities<kernel, LargeDensities>(fields, some, LargeDensities::warp() == 0, part).find();
      return true;
    });
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

    __device__ void add(const Sum& other) {
      rates.acceleration += other.rates.acceleration;
      rates.heating += other.rates.heating;
      rates.signal_speed = fmaxf(rates.signal_speed, other.rates.signal_speed);
    }
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
using SmallRates = SmallPart<true, RatesMemory>;
using LargeRates = LargePart<SweepRates::Kept, true>;

/// The velocity and the mass of a source.
__device__ FlowSource flow_of(const GasSource& source) { return {source.velocity, source.mass}; }

template <class Part>
__device__ void find_part_rates(const FindRates& find, double fastest, const WarpTarget& target, bool writes,
                                Part& part) {
  const SweepRates visitor(find, part.frame(), fastest);
  SweepRates::Sum sum{};
  if (target.is_target) sum.own = visitor.source(target.number);
  part.sweep(visitor, target.is_target, sum);
  if (target.is_target && writes) find.rates[target.number] = visitor.in_run(sum.rates);
}

/// Its kernel and formulation as constants.
template <SmoothingKernel kernel, GasFormulation formulation>
__device__ FindRates with_constants(FindRates find) {
  find.gas.kernel = kernel, find.gas.formulation = formulation;
  return find;
}

template <SmoothingKernel kernel, GasFormulation formulation>
__global__ void __launch_bounds__(32 * walk_warps, walk_blocks<RatesMemory>)
    find_group_rates(const NeighbourTree tree, const NeighbourGroups groups, const FindRates all,
                     const double fastest, const LargeParts large) {
  const FindRates find = with_constants<kernel, formulation>(all);
  __shared__ RatesMemory memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  const WarpTarget target = target_in(tree, groups, group, find);
  large.add(group, for_each_part(target, __ballot_sync(~0U, target.is_target), [&](const WarpTarget& some) {
              SmallRates part(tree, some, flow_of(find.sources[first_number(some)]), memories[warp]);
              if (part.is_whole()) find_part_rates(find, fastest, some, true, part);
              return part.is_whole();
            }));
}

template <SmoothingKernel kernel, GasFormulation formulation>
__global__ void __launch_bounds__(32 * large_warps)
    find_large_rates(const NeighbourTree tree, const NeighbourGroups groups, const FindRates all,
                     const double fastest, const LargeParts large, std::uint32_t* lists) {
  const FindRates find = with_constants<kernel, formulation>(all);
  extern __shared__ uint4 shared[];
  auto& memory = *reinterpret_cast<LargeRates::Memory*>(shared);
  for (std::uint32_t n = blockIdx.x; n < *large.count; n += gridDim.x) {
    const std::uint32_t group = large.group[n];
    for_each_part(target_in(tree, groups, group, find), large.lanes[group], [&](const WarpTarget& some) {
      LargeRates part(tree, some, flow_of(find.sources[first_number(some)]), memory,
                      lists + std::size_t{blockIdx.x} * LargeRates::room);
      find_part_rates(find, fastest, some, LargeRates::warp() == 0, part);
      return true;
    });
  }
}

template <SmoothingKernel kernel, GasFormulation formulation>
void start_rates_by(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& find,
                    double fastest) {
  LargeWork large(groups);
  find_group_rates<kernel, formulation>
      <<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, find, fastest, large.parts());
  large.start<LargeRates>(find_large_rates<kernel, formulation>, tree, groups, find, fastest);
}

template <SmoothingKernel kernel>
void start_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& find,
                 double fastest) {
  if (find.gas.formulation == GasFormulation::grad_h)
    start_rates_by<kernel, GasFormulation::grad_h>(tree, groups, find, fastest);
  else
    start_rates_by<kernel, GasFormulation::paper>(tree, groups, find, fastest);
}

template <SmoothingKernel kernel>
void start_densities(const NeighbourTree& tree, const NeighbourGroups& groups, const WantDensity& wanted,
                     const DensityFields& fields) {
  LargeWork large(groups);
  find_group_densities<kernel>
      <<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, wanted, fields, large.parts());
  large.start<LargeDensities>(find_large_densities<kernel>, tree, groups, wanted, fields);
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

/// Selects particles whose rung is below a limit.
struct BelowRung {
  const std::uint8_t *lowest_of_node, *rung;
  int limit;

  __device__ bool may_have(std::uint32_t node) const { return lowest_of_node[node] < limit; }
  __device__ bool wants(std::uint32_t particle) const { return rung[particle] < limit; }
};

/// Selects the particles whose rung a target of the warp may raise.
struct AskOnDevice : AskNeighbours<RaiseOnDevice> {
  const std::uint8_t* lowest_of_node;

  __device__ BelowRung selection(const WarpTarget& target) const {
    const unsigned own = target.is_target ? rung[target.number] : 0;
    return {lowest_of_node, rung, static_cast<int>(__reduce_max_sync(~0U, own)) - most_rungs_apart};
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
  launched("Grove::cuda::find_densities", 0, 2);
}

void find_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& visitor,
                double fastest) {
  if (groups.count == 0) return;
  const auto start = visitor.gas.kernel == SmoothingKernel::wendland_c2
                         ? start_rates<SmoothingKernel::wendland_c2>
                         : start_rates<SmoothingKernel::cubic_spline>;
  start(tree, groups, visitor, fastest);
  launched("Grove::cuda::find_rates", 0, 2);
}

void ask_neighbours(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_asking,
                    const std::uint8_t* rung, std::size_t particles, std::uint32_t* least) {
  if (groups.count == 0) return;
  const DeviceArray<std::uint8_t> lowest_of_node = lowest_of_nodes(tree, rung, particles);
  walk_neighbour_groups(tree, groups, AskOnDevice{{is_asking, rung, least, {}}, lowest_of_node.data()},
                        "Grove::cuda::ask_neighbours");
}

}  // namespace grove::cuda
