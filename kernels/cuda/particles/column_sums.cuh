#pragma once

#include <cstdint>

#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/solid_harmonics.hpp"

namespace grove::cuda {

/// Multipoles of one m, by one warp: its lanes take every 32nd particle. All sums have registers.
/// units.place() gives y; take(l, m, sum of m R_lm(-y)) by the first lane.
template <int order, int m, typename Units, typename Take>
__device__ void sum_column(const Units& units, const Vec3d* position, const double* mass, std::uint64_t begin,
                           std::uint64_t end, const Take& take) {
  DeviceComplex sums[order - m + 1];
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += 32) {
    const Vec3d y = units.place(position[i]), back{-y.x, -y.y, -y.z};
    DeviceComplex sectoral{mass[i], 0};
    GROVE_UNROLL
    for (int power = 1; power <= m; ++power) sectoral = next_sectoral(power, sectoral, back);
    visit_regular_harmonics<order>(m, sectoral, back,
                                   [&](int l, const DeviceComplex& r) { sums[l - m] += r; });
  }
  GROVE_UNROLL
  for (int l = m; l <= order; ++l) {
    const DeviceComplex sum{warp_sum(sums[l - m].re), warp_sum(sums[l - m].im)};
    if (threadIdx.x == 0) take(l, m, sum);
  }
}

/// The same of m = threadIdx.y, at most the order.
template <int order, int m = 0, typename Units, typename Take>
__device__ void sum_column_of_warp(const Units& units, const Vec3d* position, const double* mass,
                                   std::uint64_t begin, std::uint64_t end, const Take& take) {
  if (threadIdx.y == m)
    sum_column<order, m>(units, position, mass, begin, end, take);
  else if constexpr (m < order)
    sum_column_of_warp<order, m + 1>(units, position, mass, begin, end, take);
}

}  // namespace grove::cuda
