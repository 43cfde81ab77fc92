#include "kernels/cuda/direct/direct_sum.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/direct_pair.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/softening_shape.hpp"

namespace grove::cuda {
namespace {

constexpr int sum_threads = 128;
/// Particles that a block adds up for its targets.
constexpr std::uint64_t portion = 2048;
/// Sums of portions that are kept at a time, 32 bytes each.
constexpr std::size_t most_sums = std::size_t{1} << 22;

/// Softening of a type as a pair takes it: Plummer's eps^2, of which the larger counts, or the spline's 1/h,
/// of which the smaller does.
struct SumScales {
  double of_type[particle_types];
  double near2;  ///< the largest h^2; 0 for Plummer: only coincident pairs need care
};

struct alignas(32) Source {
  Vec3d position;
  double mass;
};

/// A pair that is neither near nor a particle with itself.
__device__ void add_far(Plummer, const Vec3d& d, double mass, double a, double b, Accumulator<double>& sum) {
  add_particle(Plummer{}, d, mass, larger(a, b), sum);
}
__device__ void add_far(Spline, const Vec3d& d, double mass, double, double, Accumulator<double>& sum) {
  add_particle(Newton{}, d, mass, 0.0, sum);
}

__device__ void add_near(Plummer, const Vec3d& d, double mass, double a, double b, Accumulator<double>& sum) {
  add_far(Plummer{}, d, mass, a, b, sum);
}
__device__ void add_near(Spline, const Vec3d& d, double mass, double a, double b, Accumulator<double>& sum) {
  add_pair(direct_pair(Spline{}, norm2(d), a, b), d, mass, sum);
}

/// The effect of a portion of the particles on each target.
template <class Shape>
__global__ void __launch_bounds__(sum_threads)
    add_up(const SumScales scales, const DirectParticles particles, const std::uint32_t* targets,
           std::uint32_t count, Accumulator<double>* parts) {
  __shared__ Source source[sum_threads];
  __shared__ double scale[sum_threads];
  const std::uint32_t target_blocks = blocks_for(count, sum_threads);
  const std::uint32_t t = blockIdx.x % target_blocks * sum_threads + threadIdx.x,
                      part = blockIdx.x / target_blocks;
  const std::uint64_t own = targets[min(t, count - 1)];
  const Vec3d place = particles.position[own];
  const double own_scale = scales.of_type[particles.type[own]];
  const std::uint64_t begin = part * portion, end = min(begin + portion, std::uint64_t{particles.count});
  Accumulator<double> sum{{0, 0, 0}, 0};
  for (std::uint64_t tile = begin; tile < end; tile += sum_threads) {
    __syncthreads();
    if (const std::uint64_t j = tile + threadIdx.x; j < end) {
      source[threadIdx.x] = {particles.position[j], particles.mass[j]};
      scale[threadIdx.x] = scales.of_type[particles.type[j]];
    }
    __syncthreads();
    const int size = static_cast<int>(min(std::uint64_t{sum_threads}, end - tile));
    for (int j = 0; j < size; ++j) {
      const auto [position, mass] = source[j];
      const Vec3d d = position - place;
      if (norm2(d) > scales.near2) [[likely]]
        add_far(Shape{}, d, mass, own_scale, scale[j], sum);
      else if (tile + static_cast<std::uint64_t>(j) != own)
        add_near(Shape{}, d, mass, own_scale, scale[j], sum);
    }
  }
  if (t < count) parts[static_cast<std::uint64_t>(part) * count + t] = sum;
}

constexpr int sum_columns = 32, sum_rows = 8;

/// 32 targets a block: eight threads each add every eighth part, then one adds their sums.
__global__ void __launch_bounds__(sum_columns* sum_rows)
    add_parts(const Accumulator<double>* parts, std::uint32_t number, std::uint32_t count,
              DirectForce* forces) {
  __shared__ Accumulator<double> sums[sum_rows][sum_columns];
  const std::uint32_t column = threadIdx.x % sum_columns, row = threadIdx.x / sum_columns,
                      t = blockIdx.x * sum_columns + column;
  Accumulator<double> sum{{0, 0, 0}, 0};
  for (std::uint32_t part = row; part < number && t < count; part += sum_rows) {
    const Accumulator<double>& one = parts[static_cast<std::uint64_t>(part) * count + t];
    sum.acceleration += one.acceleration;
    sum.potential += one.potential;
  }
  sums[row][column] = sum;
  __syncthreads();
  if (row != 0 || t >= count) return;
  for (int other = 1; other < sum_rows; ++other) {
    sum.acceleration += sums[other][column].acceleration;
    sum.potential += sums[other][column].potential;
  }
  forces[t] = {sum.acceleration, -sum.potential};
}

double sum_scale(Plummer, double length) { return length * length; }
double sum_scale(Spline, double length) { return direct_scale(Spline{}, length); }
double reach(Plummer, double) { return 0; }
double reach(Spline, double length) { return spline_radius_over_softening * length; }

template <class Shape>
SumScales scales_of(Shape shape, const GravityParameters& gravity) {
  SumScales scales{};
  for (std::size_t type = 0; type < particle_types; ++type) {
    const double length = gravity.softening[type], radius = reach(shape, length);
    scales.of_type[type] = sum_scale(shape, length);
    scales.near2 = std::max(scales.near2, radius * radius);
  }
  return scales;
}

}  // namespace

void direct_sum(const GravityParameters& gravity, const DirectParticles& particles,
                const std::uint32_t* targets, std::size_t count, DirectForce* forces) {
  if (count == 0) return;
  const SumScales scales = with_shape(gravity.kernel, [&](auto shape) { return scales_of(shape, gravity); });
  const auto parts = static_cast<std::uint32_t>((particles.count + portion - 1) / portion);
  const std::size_t at_once =
      std::min(count, std::max<std::size_t>(most_sums / parts / sum_threads, 1) * sum_threads);
  const DeviceArray<Accumulator<double>> sums(parts * at_once);
  const auto kernel = with_shape(gravity.kernel, [](auto shape) { return add_up<decltype(shape)>; });
  for (std::size_t first = 0; first < count; first += at_once) {
    const auto now = static_cast<std::uint32_t>(std::min(at_once, count - first));
    const std::uint32_t blocks = blocks_for(now, sum_threads);
    kernel<<<parts * blocks, sum_threads>>>(scales, particles, targets + first, now, sums.data());
    launched("Grove::cuda::direct_sum::add_up");
    add_parts<<<blocks_for(now, sum_columns), sum_columns * sum_rows>>>(sums.data(), parts, now,
                                                                        forces + first);
    launched("Grove::cuda::direct_sum::add_parts");
  }
}

}  // namespace grove::cuda
