#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/math/far_images.hpp"
#include "kernels/math/lanes.hpp"
#include "kernels/math/solid_harmonics.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Sums BoxMoments over particles begin to end - 1, at the places that place(position) gives. A lane of a
/// register takes every so many of them, and lanes are added in their order. Cost (order 10): 1200 operations
/// a particle, in lanes.
template <int order, class Place>
BoxMoments<order> moments_of(const Particles& particles, std::size_t begin, std::size_t end,
                             const Place& place) {
  using LaneComplex = BasicComplex<DoubleVector>;
  BoxMoments<order> moments;
  LaneComplex sums[Harmonics<order>::size];
  for (std::size_t first = begin; first < end; first += double_lanes) {
    double x[double_lanes] = {}, y[double_lanes] = {}, z[double_lanes] = {}, mass[double_lanes] = {};
    const std::size_t count = std::min<std::size_t>(double_lanes, end - first);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Vec3d p = place(particles.position[first + lane]);
      mass[lane] = particles.mass[first + lane];
      moments.LowMoments::add(mass[lane], p);
      x[lane] = -p.x, y[lane] = -p.y, z[lane] = -p.z;
    }
    const auto load = [](const double* from) {
      DoubleVector lanes;
      std::memcpy(&lanes, from, sizeof(lanes));
      return lanes;
    };
    const Vec3<DoubleVector> back{load(x), load(y), load(z)};
    LaneComplex sectoral{load(mass), {}};
    for (int m = 0; m <= order; ++m) {
      if (m > 0) sectoral = next_sectoral(m, sectoral, back);
      visit_regular_harmonics<order>(
          m, sectoral, back, [&](int l, const LaneComplex& r) { sums[Harmonics<order>::index(l, m)] += r; });
    }
  }
  const auto total = [](const DoubleVector& lanes) {
    double values[double_lanes], sum = 0;
    std::memcpy(values, &lanes, sizeof(lanes));
    for (const double value : values) sum += value;
    return sum;
  };
  for (int i = 0; i < Harmonics<order>::size; ++i)
    moments.multipoles.of[i] = {total(sums[i].re), total(sums[i].im)};
  return moments;
}

}  // namespace grove
