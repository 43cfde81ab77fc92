#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/particles/column_sums.cuh"
#include "kernels/cuda/particles/periodic.hpp"

namespace grove::cuda {
namespace {

__global__ void __launch_bounds__(threads) wrap_each(const Box box, std::size_t count, Vec3d* position) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i < count) position[i] = box.wrapped(position[i]);
}

/// All but the multipoles, by one warp.
template <int order>
__device__ void sum_low(const FarUnits& units, const Vec3d* position, const double* mass, std::uint64_t begin,
                        std::uint64_t end, BoxMoments<order>& moments) {
  LowMoments own;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += 32) own.add(mass[i], units.place(position[i]));
  const Vec3d first{warp_sum(own.first.x), warp_sum(own.first.y), warp_sum(own.first.z)};
  const double all = warp_sum(own.mass), second = warp_sum(own.second);
  if (threadIdx.x != 0) return;
  moments.first = first;
  moments.mass = all;
  moments.second = second;
}

/// A block per piece, and a warp of it (threadIdx.y) for each m and for what is no multipole.
template <int order>
__global__ void __launch_bounds__(32 * (order + 2))
    sum_moments(const FarUnits units, const Vec3d* position, const double* mass, const std::uint64_t* begin,
                BoxMoments<order>* moments) {
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  BoxMoments<order>& sums = moments[blockIdx.x];
  if (threadIdx.y > order) return sum_low(units, position, mass, first, end, sums);
  sum_column_of_warp<order>(units, position, mass, first, end,
                            [&](int l, int m, const DeviceComplex& sum) { sums.multipoles(l, m) = sum; });
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
  sum_moments<order>
      <<<pieces.count, dim3(32, order + 2)>>>(units, position, mass, pieces.begin.data(), moments);
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
