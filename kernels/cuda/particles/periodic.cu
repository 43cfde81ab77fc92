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
  /// The real and the imaginary part of a multipole.
  __device__ void add(int l, int m, const DeviceComplex& sum) const {
    const int place = WholeMoments<order>::place(l, m);
    const double weight = WholeMoments<order>::weight(l, m);
    add(place, sum.re, weight);
    add(place + 1, sum.im, weight);
  }
  /// All but multipoles: what the lanes of a warp have.
  __device__ void add_of_warp(const LowMoments& low) const {
    const Vec3d first{warp_sum(low.first.x), warp_sum(low.first.y), warp_sum(low.first.z)};
    const double mass = warp_sum(low.mass), second = warp_sum(low.second);
    if (lane_index() != 0) return;
    for (int axis = 0; axis < 3; ++axis) add(axis, first[axis]);
    add(3, mass);
    add(4, second);
  }
};

/// A block per piece, and a warp of it (threadIdx.y) for each m. Multipoles are summed in single precision,
/// in fractions of the bound of the box's mass.
template <int order>
__global__ void __launch_bounds__(32 * (order + 1))
    sum_moments(const FarUnits units, const Vec3d* position, const double* mass, const std::uint64_t* begin,
                const WholeSums<order> sums) {
  extern __shared__ SummedParticle<float> staged[];
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  const double fraction = sums.per_mass * 0x1p-60;
  LowMoments low;
  for (std::uint64_t i = first + 32 * threadIdx.y + threadIdx.x; i < end; i += 32 * (order + 1)) {
    const Vec3d y = units.place(position[i]);
    low.add(mass[i], y);
    staged[i - first] = {(-y).as<float>(), static_cast<float>(mass[i] * fraction)};
  }
  sums.add_of_warp(low);
  __syncthreads();
  sum_column_of_warp<float, order>(
      [&](std::uint64_t i) { return staged[i]; }, 0, end - first,
      [&](int l, int m, const DeviceComplex& sum) { sums.add(l, m, (1 / fraction) * sum); });
}

/// The same in double precision, for audits.
template <int order>
__global__ void __launch_bounds__(32 * (order + 1))
    sum_moments_exactly(const FarUnits units, const Vec3d* position, const double* mass,
                        const std::uint64_t* begin, const WholeSums<order> sums) {
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  LowMoments low;
  for (std::uint64_t i = first + 32 * threadIdx.y + threadIdx.x; i < end; i += 32 * (order + 1))
    low.add(mass[i], units.place(position[i]));
  sums.add_of_warp(low);
  sum_column_of_warp<double, order>(
      [&](std::uint64_t i) {
        return SummedParticle<double>{-units.place(position[i]), mass[i]};
      },
      first, end, [&](int l, int m, const DeviceComplex& sum) { sums.add(l, m, sum); });
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
  const dim3 block(32, order + 1);
  const WholeSums<order> to{per_mass, sums.data()};
  if constexpr (order == audit_far_moments) {
    sum_moments_exactly<order><<<pieces.count, block>>>(units, position, mass, pieces.begin.data(), to);
  } else {
    constexpr int bytes = LeafPieces::most * sizeof(SummedParticle<float>);
    GROVE_CUDA(cudaFuncSetAttribute(sum_moments<order>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    sum_moments<order><<<pieces.count, block, bytes>>>(units, position, mass, pieces.begin.data(), to);
  }
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
