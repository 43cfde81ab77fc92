#include "kernels/cuda/gas/gas_steps.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/gas_visitors.hpp"

namespace grove::cuda {
namespace {

using Number = unsigned long long;

template <class Body>
__global__ void __launch_bounds__(threads) gas_loop(std::size_t count, const Body body) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i < count) body(i);
}

template <class Body>
void loop(std::size_t count, const char* name, const Body& body) {
  if (count == 0) return;
  gas_loop<<<blocks_for(count), threads>>>(count, body);
  launched(name);
}

/// Stores the records that the threads of a warp have for items one after the other: the lanes write words
/// that are beside each other.
template <class T>
__device__ void store_together(T* records, const T& own, std::size_t item, std::size_t count) {
  constexpr unsigned words = sizeof(T) / sizeof(std::uint64_t);
  static_assert(sizeof(T) == words * sizeof(std::uint64_t));
  __shared__ std::uint64_t of_block[threads * words];
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t* const of_warp = of_block + (threadIdx.x - lane) * words;
  std::memcpy(of_warp + lane * words, &own, sizeof(T));
  __syncwarp();
  auto* const to = reinterpret_cast<std::uint64_t*>(records);
  const std::size_t begin = (item - lane) * words, end = count * words;
  for (unsigned w = lane; w < 32 * words; w += 32)
    if (begin + w < end) to[begin + w] = of_warp[w];
}

/// The body returns the record of an item.
template <class T, class Body>
__global__ void __launch_bounds__(threads) recording_loop(std::size_t count, const Body body, T* records) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  T own{};
  if (i < count) own = body(i);
  store_together(records, own, i, count);
}

template <class T, class Body>
void record(std::size_t count, const char* name, const Body& body, T* records) {
  if (count == 0) return;
  recording_loop<<<blocks_for(count), threads>>>(count, body, records);
  launched(name);
}

/// Counts the particles for which the body is true.
template <class Body>
__global__ void __launch_bounds__(threads) counting_loop(std::size_t count, const Body body, Number* sum) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  const int of_block = __syncthreads_count(i < count && body(i));
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(sum, static_cast<Number>(of_block));
}

template <class Body>
Count counted(std::size_t count, const char* name, const Body& body) {
  if (count == 0) return 0;
  DeviceArray<Number> sum(1);
  sum.clear();
  counting_loop<<<blocks_for(count), threads>>>(count, body, sum.data());
  launched(name);
  Number host = 0;
  sum.download(std::span(&host, 1));
  return static_cast<Count>(host);
}

struct PredictGas {
  GasFields fields;
  GasMoment now;
  double* energy;
  __device__ FlowSource operator()(std::size_t i) const {
    energy[i] = fields.present_energy(i, now);
    return {fields.present_velocity(i, now.since_middle), fields.mass[i]};
  }
};

struct WantActive {
  GasFields fields;
  int first_active;
  std::uint8_t* is_wanted;
  __device__ bool operator()(std::size_t i) const {
    const bool wanted = fields.is_active_gas(i, first_active);
    is_wanted[i] = wanted ? 1 : 0;
    return wanted;
  }
};

struct GatheringReach {
  GasFields fields;
  const std::uint8_t* is_wanted;
  const double* radius;
  double* reach;
  __device__ void operator()(std::size_t i) const {
    reach[i] = fields.is_gas(i) ? (is_wanted[i] ? radius[i] : 0) : -1;
  }
};

struct StillWanted {
  GasFields fields;
  std::uint8_t* is_wanted;
  __device__ bool operator()(std::size_t i) const {
    const bool wanted = is_wanted[i] != 0 && fields.smoothing_length[i] == 0;
    is_wanted[i] = wanted ? 1 : 0;
    return wanted;
  }
};

struct SymmetricReach {
  GasFields fields;
  double* reach;
  __device__ void operator()(std::size_t i) const {
    reach[i] = fields.is_gas(i) ? fields.smoothing_length[i] : -1;
  }
};

struct FirstBeyond {
  const double* reach;
  double most;
  Number* first;
  __device__ void operator()(std::size_t i) const {
    if (!(reach[i] < most)) atomicMin(first, static_cast<Number>(i));
  }
};

struct FindSources {
  GasFields fields;
  GasParameters gas;
  GasSpace space;
  const FlowSource* flow;
  const double* energy;
  __device__ GasSource operator()(std::size_t i) const {
    return fields.source(gas, space, i, flow[i].velocity, energy[i]);
  }
};

/// Counts those that are not finite.
struct TakeRates {
  GasFields fields;
  GasParameters gas;
  GasSpace space;
  const std::uint8_t* is_wanted;
  const GasRates* rates;
  const GasSource* sources;
  __device__ bool operator()(std::size_t i) const {
    return is_wanted[i] != 0 && !fields.take(gas, space, i, rates[i], sources[i].sound_speed);
  }
};

struct LimitBySignals {
  GasFields fields;
  GasParameters gas;
  StepRule rule;
  int first_active;
  std::uint8_t* is_asking;
  __device__ bool operator()(std::size_t i) const {
    const bool is_active = fields.is_active_gas(i, first_active);
    if (is_active) fields.limit_by_signal(gas, rule, i);
    const bool asks = is_active && fields.rung[i] > most_rungs_apart;
    is_asking[i] = asks ? 1 : 0;
    return asks;
  }
};

struct ShortenSteps {
  GasFields fields;
  InsideSteps inside;
  const std::uint32_t* least;
  std::uint8_t* is_asking;
  __device__ bool operator()(std::size_t i) const {
    const bool asks = least[i] > fields.rung[i];
    is_asking[i] = asks ? 1 : 0;
    if (asks) fields.shorten_step(i, static_cast<std::uint8_t>(least[i]), inside);
    return asks;
  }
};

/// A block finds the first radii of one leaf.
__global__ void __launch_bounds__(threads) find_first_radii(const GasFields fields, const FirstRadius rule,
                                                            const LeafPlaces* leaves, double* radius) {
  __shared__ NeighbourBounds bounds[threads];
  __shared__ std::uint32_t numbers[threads];
  const LeafPlaces leaf = leaves[blockIdx.x];
  const std::uint64_t end = leaf.first + static_cast<std::uint64_t>(leaf.count);
  NeighbourBounds own;
  std::uint32_t number = 0;
  for (std::uint64_t i = leaf.first + threadIdx.x; i < end; i += threads)
    if (fields.is_gas(i)) own.add(fields.position[i], 0), ++number;
  bounds[threadIdx.x] = own;
  numbers[threadIdx.x] = number;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    bounds[threadIdx.x].add(bounds[threadIdx.x + half]);
    numbers[threadIdx.x] += numbers[threadIdx.x + half];
  }
  __syncthreads();
  const double of_leaf = numbers[0] > 0 ? rule.of_leaf(bounds[0], numbers[0]) : 0;
  for (std::uint64_t i = leaf.first + threadIdx.x; i < end; i += threads)
    radius[i] = numbers[0] > 0 ? rule.of_particle(fields.smoothing_length[i], of_leaf) : 0;
}

/// Numbers that are not below 0 have the order of their bits.
__global__ void __launch_bounds__(threads)
    find_fastest(const GasSource* sources, std::size_t count, Number* most) {
  double own = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * threads)
    own = max(own, norm(sources[i].velocity) + sources[i].sound_speed);
  for (int other = 1; other < 32; other *= 2) own = max(own, __shfl_xor_sync(~0U, own, other));
  if (threadIdx.x % 32 == 0) atomicMax(most, static_cast<Number>(__double_as_longlong(own)));
}

__global__ void __launch_bounds__(threads)
    count_by_rung(const std::uint8_t* rung, std::size_t count, Number* counts) {
  __shared__ unsigned own[rung_count];
  for (int k = static_cast<int>(threadIdx.x); k < rung_count; k += threads) own[k] = 0;
  __syncthreads();
  for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * threads)
    atomicAdd(&own[rung[i]], 1U);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < rung_count; k += threads)
    if (own[k] > 0) atomicAdd(&counts[k], Number{own[k]});
}

}  // namespace

void predict_gas(const GasParticles& particles, const GasMoment& now, double* energy, FlowSource* flow) {
  record(particles.count, "Grove::cuda::predict_gas", PredictGas{particles.fields, now, energy}, flow);
}

Count want_active(const GasParticles& particles, int first_active, std::uint8_t* is_wanted) {
  return counted(particles.count, "Grove::cuda::want_active",
                 WantActive{particles.fields, first_active, is_wanted});
}

void first_radii(const GasParticles& particles, const FirstRadius& rule, const LeafPlaces* leaves,
                 std::uint32_t leaf_count, double* radius) {
  if (leaf_count == 0) return;
  find_first_radii<<<leaf_count, threads>>>(particles.fields, rule, leaves, radius);
  launched("Grove::cuda::first_radii");
}

void gathering_reach(const GasParticles& particles, const std::uint8_t* is_wanted, const double* radius,
                     double* reach) {
  loop(particles.count, "Grove::cuda::gathering_reach",
       GatheringReach{particles.fields, is_wanted, radius, reach});
}

Count still_wanted(const GasParticles& particles, std::uint8_t* is_wanted) {
  return counted(particles.count, "Grove::cuda::still_wanted", StillWanted{particles.fields, is_wanted});
}

void symmetric_reach(const GasParticles& particles, double* reach) {
  loop(particles.count, "Grove::cuda::symmetric_reach", SymmetricReach{particles.fields, reach});
}

std::optional<std::size_t> first_beyond(const double* reach, std::size_t count, double most) {
  Number first = ~Number{0};
  const DeviceArray<Number> found{std::span<const Number>(&first, 1)};
  loop(count, "Grove::cuda::first_beyond", FirstBeyond{reach, most, found.data()});
  found.download(std::span(&first, 1));
  return first == ~Number{0} ? std::nullopt : std::optional<std::size_t>(first);
}

void find_sources(const GasParticles& particles, const GasParameters& gas, const GasSpace& space,
                  const FlowSource* flow, const double* energy, GasSource* sources) {
  record(particles.count, "Grove::cuda::find_sources",
         FindSources{particles.fields, gas, space, flow, energy}, sources);
}

double fastest(const GasSource* sources, std::size_t count) {
  if (count == 0) return 0;
  DeviceArray<Number> most(1);
  most.clear();
  find_fastest<<<std::min(enough_blocks, blocks_for(count)), threads>>>(sources, count, most.data());
  launched("Grove::cuda::fastest");
  double host = 0;
  device_download(&host, most.data(), sizeof(host));
  return host;
}

Count take_rates(const GasParticles& particles, const GasParameters& gas, const GasSpace& space,
                 const std::uint8_t* is_wanted, const GasRates* rates, const GasSource* sources) {
  return counted(particles.count, "Grove::cuda::take_rates",
                 TakeRates{particles.fields, gas, space, is_wanted, rates, sources});
}

Count limit_by_signals(const GasParticles& particles, const GasParameters& gas, const StepRule& rule,
                       int first_active, std::uint8_t* is_asking) {
  return counted(particles.count, "Grove::cuda::limit_by_signals",
                 LimitBySignals{particles.fields, gas, rule, first_active, is_asking});
}

Count shorten_steps(const GasParticles& particles, const InsideSteps& inside, const std::uint32_t* least,
                    std::uint8_t* is_asking) {
  return counted(particles.count, "Grove::cuda::shorten_steps",
                 ShortenSteps{particles.fields, inside, least, is_asking});
}

RungCounts count_rungs(const std::uint8_t* rung, std::size_t count) {
  RungCounts counts{};
  if (count == 0) return counts;
  DeviceArray<Number> sums(rung_count);
  sums.clear();
  count_by_rung<<<std::min(enough_blocks, blocks_for(count)), threads>>>(rung, count, sums.data());
  launched("Grove::cuda::count_rungs");
  device_download(counts.data(), sums.data(), sizeof(counts));
  return counts;
}

}  // namespace grove::cuda
