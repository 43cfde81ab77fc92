#include "kernels/cuda/particles/particle_steps.hpp"

#include <cub/device/device_reduce.cuh>

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/particles/rung_run.cuh"
#include "kernels/math/gas.hpp"
#include "kernels/math/leapfrog.hpp"

namespace grove::cuda {
namespace {

template <class Body>
__global__ void __launch_bounds__(threads) for_each(std::size_t count, const Body body) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) body(i);
}

template <class Body>
void run(std::size_t count, const char* name, std::uint64_t bytes, const Body& body) {
  if (count == 0) return;
  for_each<<<blocks_for(count), threads>>>(count, body);
  launched(name, bytes * count);
}

/// body(i, rung) for the active ones of so many particles. bytes: of one, if all are active.
template <class Body>
void run_active(std::size_t count, const std::uint8_t* rung, int first_active, const char* name,
                std::uint64_t bytes, const Body& body) {
  if (count == 0) return;
  for_each_active<<<blocks_for(count, warps * RungRun::size), threads>>>(count, rung, first_active, body);
  launched(name, bytes * count);
}

struct KickBody {
  Kick kick;
  StepFields fields;
  __device__ void operator()(std::size_t i, int rung) const {
    if (!fields.are_finite()) return;
    fields.velocity[i] = kicked(fields.velocity[i], fields.acceleration[i], kick.factor.of[rung]);
    if (fields.internal_energy)
      fields.internal_energy[i] =
          heated(fields.internal_energy[i], fields.energy_rate[i], kick.factor.of[rung]);
  }
};

__device__ void stretch_gas(const StepFields& fields, std::size_t i, double time) {
  if (fields.density)
    stretch(fields.density[i], fields.smoothing_length[i], fields.velocity_divergence[i], time);
}

struct DriftBody {
  double factor;
  StepFields fields;
  __device__ void operator()(std::size_t i) const {
    fields.position[i] = drifted(fields.position[i], fields.velocity[i], factor);
    stretch_gas(fields, i, factor);
  }
};

struct LaggingDriftBody {
  Drift drift;
  StepFields fields;
  __device__ void operator()(std::size_t i) const {
    fields.position[i] = drifted(fields.position[i], fields.velocity[i], fields.acceleration[i], drift.factor,
                                 drift.lag.of[fields.rung[i]]);
    stretch_gas(fields, i, drift.factor);
  }
};

using Counter = unsigned long long;

/// Counts by rung, of a block and then of all. Rungs of neighbours are mostly the same: of the lanes of a
/// warp that share one, one adds for all.
struct RungSums {
  Counter* own;  ///< [rung_count] shared

  __device__ void clear() const {
    for (int k = static_cast<int>(threadIdx.x); k < rung_count; k += threads) own[k] = 0;
    __syncthreads();
  }
  /// By all lanes of a warp; rung < 0: nothing.
  __device__ void add(int rung, std::uint32_t value) const {
    const unsigned peers = __match_any_sync(~0U, rung);
    const int first = __ffs(static_cast<int>(peers)) - 1, lane = static_cast<int>(threadIdx.x % 32);
    Counter sum = 0;  // 32 values fit 37 bits
    const std::uint32_t low = __reduce_add_sync(peers, value & 0xffffU),
                        high = __reduce_add_sync(peers, value >> 16);
    sum = low + (Counter{high} << 16);
    if (rung >= 0 && lane == first) atomicAdd(&own[rung], sum);
  }
  /// Adds a value that is the same in all lanes, once.
  __device__ void add_of_warp(int rung, std::uint32_t value) const {
    if (lane_index() == 0 && value > 0) atomicAdd(&own[rung], Counter{value});
  }
  __device__ void add_to(Counter* all) const {
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < rung_count; k += threads)
      if (own[k] > 0) atomicAdd(&all[k], own[k]);
  }
};

/// Calls visit(RungRun) of all particles. Warps of all blocks take turns.
template <class Visit>
__device__ void for_runs(std::size_t count, const std::uint8_t* rung, const Visit& visit) {
  const std::size_t step = std::size_t{gridDim.x} * warps * RungRun::size;
  for (std::size_t begin = (std::size_t{blockIdx.x} * warps + threadIdx.x / 32) * RungRun::size;
       begin < count; begin += step)
    visit(RungRun(rung, count, begin));
}

__global__ void __launch_bounds__(threads) choose(std::size_t count, const StepRule rule, int first_active,
                                                  const StepFields fields, Counter* counts) {
  __shared__ Counter own[rung_count];
  const RungSums sums{own};
  if (!fields.are_finite()) return;
  sums.clear();
  for_runs(count, fields.rung, [&](const RungRun& run) {
    for (int rung = 0; rung < first_active; ++rung) sums.add_of_warp(rung, run.count_of(rung));
    run.for_active(first_active, [&](std::size_t first) {
      const std::size_t i = first + static_cast<std::size_t>(lane_index());
      const int before = i < count ? fields.rung[i] : -1;
      int rung = -1;
      if (before >= first_active) {
        const Vec3f acceleration = fields.acceleration[i];
        rung = rule.next_rung(acceleration, fields.previous_acceleration[i], fields.type[i],
                              static_cast<std::uint8_t>(before), first_active);
        fields.rung[i] = static_cast<std::uint8_t>(rung);
        if (rung != before) fields.work[i] = work_on_rung(fields.work[i], before, rung);
        fields.previous_acceleration[i] = acceleration;
      }
      sums.add(rung, 1);
    });
  });
  sums.add_to(counts);
}

/// counts: particles, then interactions, by rung; accelerations that are not finite.
__global__ void __launch_bounds__(threads)
    remember_forces(std::size_t count, int first_active, const StepFields fields, Counter* counts) {
  __shared__ Counter own[2][rung_count];
  const RungSums particles{own[0]}, interactions{own[1]};
  particles.clear();
  interactions.clear();
  for_runs(count, fields.rung, [&](const RungRun& run) {
    run.for_active(first_active, [&](std::size_t first) {
      const std::size_t i = first + static_cast<std::size_t>(lane_index());
      int rung = i < count ? fields.rung[i] : -1;
      std::uint32_t work = 0;
      if (rung < first_active) {
        rung = -1;
      } else {
        work = fields.work[i];
        fields.work[i] = work_per_cycle(work, rung);
        const auto strength = static_cast<float>(norm(fields.acceleration[i].as<double>()));
        fields.old_acceleration[i] = strength;
        if (!isfinite(strength)) atomicAdd(counts + 2 * rung_count, Counter{1});
      }
      particles.add(rung, 1);
      interactions.add(rung, work);
    });
  });
  particles.add_to(counts);
  interactions.add_to(counts + rung_count);
}

unsigned blocks_of_steps(std::size_t count) {
  return std::min(enough_blocks, blocks_for(count, warps * RungRun::size));
}

struct AddExternal {
  ExternalField field;
  const Vec3d* position;
  Vec3f* acceleration;
  __device__ void operator()(std::size_t i, int) const {
    acceleration[i] = field.added(acceleration[i], position[i]);
  }
};

struct SetWork {
  std::uint32_t value;
  std::uint32_t* work;
  __device__ void operator()(std::size_t i, int) const { work[i] = value; }
};

struct SetNoForces {
  Vec3f* acceleration;
  float* potential;
  std::uint32_t* work;
  __device__ void operator()(std::size_t i, int) const {
    acceleration[i] = {0, 0, 0};
    potential[i] = 0;
    work[i] = 0;
  }
};

struct TotalsOfParticle {
  TotalsFields fields;
  ExternalField field;
  __device__ Totals operator()(std::uint64_t i) const {
    Totals totals = Totals::of_particle(fields.mass[i], fields.position[i], fields.velocity[i],
                                        fields.potential[i], field.at(fields.position[i]).potential);
    if (fields.internal_energy && fields.type[i] == gas_type)
      totals.add_gas(fields.mass[i], fields.velocity[i], fields.internal_energy[i], fields.energy_rate[i],
                     fields.hydro_acceleration[i]);
    return totals;
  }
};

struct TotalsOfPiece {
  const Totals* pieces;
  __device__ Totals operator()(std::uint64_t i) const { return pieces[i]; }
};

/// One block per range of items: each thread adds every threads-th one, then pairs of threads are added.
template <class Items>
__global__ void __launch_bounds__(threads)
    sum_range(const Items items, const std::uint64_t* begin, Totals* totals) {
  __shared__ Totals part[threads];
  Totals own;
  for (std::uint64_t i = begin[blockIdx.x] + threadIdx.x; i < begin[blockIdx.x + 1]; i += threads)
    own = own + items(i);
  part[threadIdx.x] = own;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = part[0];
}

}  // namespace

RungCounts choose_rungs(std::size_t count, const StepRule& rule, int first_active, const StepFields& fields) {
  RungCounts counts{};
  if (count == 0) return counts;
  DeviceArray<Counter> sums(rung_count);
  sums.clear();
  choose<<<blocks_of_steps(count), threads>>>(count, rule, first_active, fields, sums.data());
  launched("Grove::cuda::choose_rungs");
  device_download(counts.data(), sums.data(), sizeof(counts));
  return counts;
}

void kick(std::size_t count, const Kick& kick, const StepFields& fields) {
  run_active(count, fields.rung, kick.first_active, "Grove::cuda::kick", sizeof(Vec3f) + 2 * sizeof(Vec3d),
             KickBody{kick, fields});
}

void drift(std::size_t count, const Drift& drift, const StepFields& fields) {
  if (drift.has_lag)
    run(count, "Grove::cuda::drift", sizeof(Vec3f) + 3 * sizeof(Vec3d), LaggingDriftBody{drift, fields});
  else
    run(count, "Grove::cuda::drift", 3 * sizeof(Vec3d), DriftBody{drift.factor, fields});
}

void add_external(std::size_t count, int first_active, const ExternalField& field, const std::uint8_t* rung,
                  const Vec3d* position, Vec3f* acceleration) {
  if (field.count == 0) return;
  run_active(count, rung, first_active, "Grove::cuda::add_external", sizeof(Vec3d) + 2 * sizeof(Vec3f),
             AddExternal{field, position, acceleration});
}

DeviceArray<RungWork> remember(std::size_t count, int first_active, const StepFields& fields) {
  DeviceArray<RungWork> result(1);
  result.clear();
  if (count == 0) return result;
  static_assert(sizeof(RungWork) == (2 * rung_count + 1) * sizeof(Counter));
  remember_forces<<<blocks_of_steps(count), threads>>>(count, first_active, fields,
                                                       reinterpret_cast<Counter*>(result.data()));
  launched("Grove::cuda::remember");
  return result;
}

void set_work(const std::uint8_t* rung, std::size_t count, int first_active, std::uint32_t value,
              std::uint32_t* work) {
  run_active(count, rung, first_active, "Grove::cuda::set_work", sizeof(value), SetWork{value, work});
}

void set_no_forces(std::size_t count, int first_active, const std::uint8_t* rung, Vec3f* acceleration,
                   float* potential, std::uint32_t* work) {
  run_active(count, rung, first_active, "Grove::cuda::set_no_forces",
             sizeof(Vec3f) + sizeof(float) + sizeof(std::uint32_t),
             SetNoForces{acceleration, potential, work});
}

Arriving<double> largest_of(const double* values, std::size_t count) {
  DeviceArray<double> result(1);
  result.clear();
  if (count == 0) return Arriving<double>(result.data());
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceReduce::Max(nullptr, bytes, values, result.data(), count));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceReduce::Max(scratch.data(), bytes, values, result.data(), count));
  launched("Grove::cuda::largest_of", count * sizeof(double), kernels_of_pass);
  return Arriving<double>(result.data());
}

void sum_leaves(const TotalsFields& fields, const ExternalField& field, const LeafPieces& pieces,
                Totals* totals) {
  if (pieces.leaves == 0) return;
  const DeviceArray<Totals> of_pieces(pieces.are_leaves() ? 0 : pieces.count);
  Totals* const sums = pieces.are_leaves() ? totals : of_pieces.data();
  sum_range<<<pieces.count, threads>>>(TotalsOfParticle{fields, field}, pieces.begin.data(), sums);
  launched("Grove::cuda::sum_leaves");
  if (pieces.are_leaves()) return;
  sum_range<<<pieces.leaves, threads>>>(TotalsOfPiece{sums}, pieces.first.data(), totals);
  launched("Grove::cuda::sum_leaves::of_pieces");
}

}  // namespace grove::cuda
