#pragma once

#include <cstdint>

#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/solid_harmonics.hpp"

namespace grove::cuda {

/// A particle of a sum of m R_lm(-y): -y, and m; in single precision a lane loads it at once.
template <class T>
struct alignas(4 * sizeof(T)) SummedParticle {
  Vec3<T> back;
  T mass;
};

/// z^power: some log2(power) products.
template <int power, class T>
__device__ BasicComplex<T> power_of(const BasicComplex<T>& z) {
  if constexpr (power == 0)
    return {1, 0};
  else if constexpr (power == 1)
    return z;
  else if constexpr (power % 2 == 1)
    return z * power_of<power - 1>(z);
  else {
    const BasicComplex<T> half = power_of<power / 2>(z);
    return half * half;
  }
}

/// 1 / (2^m m!): R_mm is (x + i y)^m times it.
__host__ __device__ constexpr double sectoral_scale(int m) {
  return m == 0 ? 1 : sectoral_scale(m - 1) / (2 * m);
}

/// Multipoles of one m, by one warp: its lanes take every 32nd particle. All sums have registers.
/// particle(i): SummedParticle<T>; take(l, m, sum of m R_lm(-y)) by the first lane.
template <class T, int order, int m, typename Particle, typename Take>
__device__ void sum_column(const Particle& particle, std::uint64_t begin, std::uint64_t end,
                           const Take& take) {
  constexpr auto of_power = static_cast<T>(sectoral_scale(m));
  BasicComplex<T> sums[order - m + 1];
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += 32) {
    const SummedParticle<T> p = particle(i);
    visit_regular_harmonics<order>(m, (of_power * p.mass) * power_of<m>(BasicComplex<T>{p.back.x, p.back.y}),
                                   p.back, [&](int l, const BasicComplex<T>& r) { sums[l - m] += r; });
  }
  GROVE_UNROLL
  for (int l = m; l <= order; ++l) {
    const BasicComplex<T> sum{warp_sum(sums[l - m].re), warp_sum(sums[l - m].im)};
    if (threadIdx.x == 0) take(l, m, DeviceComplex{sum.re, sum.im});
  }
}

/// The same of m = threadIdx.y, at most the order.
template <class T, int order, int m = 0, typename Particle, typename Take>
__device__ void sum_column_of_warp(const Particle& particle, std::uint64_t begin, std::uint64_t end,
                                   const Take& take) {
  if (threadIdx.y == m)
    sum_column<T, order, m>(particle, begin, end, take);
  else if constexpr (m < order)
    sum_column_of_warp<T, order, m + 1>(particle, begin, end, take);
}

}  // namespace grove::cuda
