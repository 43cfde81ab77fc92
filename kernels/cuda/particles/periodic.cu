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

/// Adds sums of pieces as whole numbers.
template <int order>
struct WholeSums {
  double per_mass;
  WholeMoments<order>* sums;

  __device__ void add(int place, double value, double weight = 1) const {
    static_assert(sizeof(unsigned long long) == sizeof(std::int64_t));
    atomicAdd(reinterpret_cast<unsigned long long*>(sums->of + place),
              static_cast<unsigned long long>(WholeMoments<order>::whole(value, weight * per_mass)));
  }
};

/// All but the multipoles, by one warp.
template <int order>
__device__ void sum_low(const FarUnits& units, const Vec3d* position, const double* mass, std::uint64_t begin,
                        std::uint64_t end, const WholeSums<order>& sums) {
  LowMoments own;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += 32) own.add(mass[i], units.place(position[i]));
  const Vec3d first{warp_sum(own.first.x), warp_sum(own.first.y), warp_sum(own.first.z)};
  const double all = warp_sum(own.mass), second = warp_sum(own.second);
  if (threadIdx.x != 0) return;
  for (int axis = 0; axis < 3; ++axis) sums.add(axis, first[axis]);
  sums.add(3, all);
  sums.add(4, second);
}

/// A block per piece, and a warp of it (threadIdx.y) for each m and for what is no multipole.
template <int order>
__global__ void __launch_bounds__(32 * (order + 2))
    sum_moments(const FarUnits units, const Vec3d* position, const double* mass, const std::uint64_t* begin,
                const WholeSums<order> sums) {
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  if (threadIdx.y > order) return sum_low(units, position, mass, first, end, sums);
  sum_column_of_warp<order>(units, position, mass, first, end, [&](int l, int m, const DeviceComplex& sum) {
    const double weight = WholeMoments<order>::weight(l, m);
    sums.add(WholeMoments<order>::place(l, m), sum.re, weight);
    sums.add(WholeMoments<order>::place(l, m) + 1, sum.im, weight);
  });
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
WholeMoments<order> sum_box_moments(const FarUnits& units, const Vec3d* position, const double* mass,
                                    const LeafPieces& pieces, double per_mass) {
  WholeMoments<order> result;
  if (pieces.count == 0) return result;
  DeviceArray<WholeMoments<order>> sums(1);
  sums.clear();
  sum_moments<order><<<pieces.count, dim3(32, order + 2)>>>(units, position, mass, pieces.begin.data(),
                                                            WholeSums<order>{per_mass, sums.data()});
  launched("Grove::cuda::sum_box_moments");
  sums.download(std::span(&result, 1));
  return result;
}
template WholeMoments<far_moments> sum_box_moments(const FarUnits&, const Vec3d*, const double*,
                                                   const LeafPieces&, double);
template WholeMoments<audit_far_moments> sum_box_moments(const FarUnits&, const Vec3d*, const double*,
                                                         const LeafPieces&, double);

void add_far_images(const FarUnits& units, const FarField<far_order>& field, std::size_t count,
                    const std::uint8_t* rung, int first_active, const Vec3d* position, Vec3f* acceleration,
                    float* potential) {
  if (count == 0) return;
  add_far<<<blocks_for(count), threads>>>(units, field, count, rung, first_active, position, acceleration,
                                          potential);
  launched("Grove::cuda::add_far_images");
}

}  // namespace grove::cuda
