#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/particles/periodic.hpp"

namespace grove::cuda {
namespace {

constexpr int moment_threads = 128, moment_warps = moment_threads / 32;

__global__ void __launch_bounds__(threads) wrap_each(const Box box, std::size_t count, Vec3d* position) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i < count) position[i] = box.wrapped(position[i]);
}

/// A block per piece. Threads take every so many-th particle; their sums are added in a fixed order.
template <int order>
__global__ void __launch_bounds__(moment_threads)
    sum_moments(const FarUnits units, const Vec3d* position, const double* mass, const std::uint64_t* begin,
                BoxMoments<order>* moments) {
  using Moments = BoxMoments<order>;
  constexpr int numbers = sizeof(Moments) / sizeof(double);
  static_assert(sizeof(Moments) % sizeof(double) == 0);
  __shared__ double of_warps[moment_warps][numbers];
  Moments own{};
  for (std::uint64_t i = begin[blockIdx.x] + threadIdx.x; i < begin[blockIdx.x + 1]; i += moment_threads)
    own.add(mass[i], units.place(position[i]));
  const double* const values = reinterpret_cast<const double*>(&own);
  for (int n = 0; n < numbers; ++n) {
    double sum = values[n];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(~0u, sum, apart);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32][n] = sum;
  }
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < numbers; n += moment_threads) {
    double sum = of_warps[0][n];
    for (int warp = 1; warp < moment_warps; ++warp) sum += of_warps[warp][n];
    reinterpret_cast<double*>(moments + blockIdx.x)[n] = sum;
  }
}

__global__ void __launch_bounds__(threads)
    add_far(const FarUnits units, const FarField<far_order> field, std::size_t count,
            const std::uint8_t* rung, int first_active, const Vec3d* position, Vec3f* acceleration,
            float* potential) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i >= count || rung[i] < first_active) return;
  const DirectForce far = units.force(field, position[i]);
  acceleration[i] = (acceleration[i].as<double>() + far.acceleration).as<float>();
  potential[i] = static_cast<float>(potential[i] + far.potential);
}

}  // namespace

void wrap_positions(const Box& box, std::size_t count, Vec3d* position) {
  if (count == 0) return;
  wrap_each<<<blocks_for(count), threads>>>(box, count, position);
  launched("Grove::cuda::wrap_positions");
}

template <int order>
void sum_box_moments(const FarUnits& units, const Vec3d* position, const double* mass,
                     const LeafPieces& pieces, BoxMoments<order>* moments) {
  if (pieces.count == 0) return;
  sum_moments<order><<<pieces.count, moment_threads>>>(units, position, mass, pieces.begin.data(), moments);
  launched("Grove::cuda::sum_box_moments");
}
template void sum_box_moments(const FarUnits&, const Vec3d*, const double*, const LeafPieces&,
                              BoxMoments<far_moments>*);
template void sum_box_moments(const FarUnits&, const Vec3d*, const double*, const LeafPieces&,
                              BoxMoments<audit_far_moments>*);

void add_far_images(const FarUnits& units, const FarField<far_order>& field, std::size_t count,
                    const std::uint8_t* rung, int first_active, const Vec3d* position, Vec3f* acceleration,
                    float* potential) {
  if (count == 0) return;
  add_far<<<blocks_for(count), threads>>>(units, field, count, rung, first_active, position, acceleration,
                                          potential);
  launched("Grove::cuda::add_far_images");
}

}  // namespace grove::cuda
