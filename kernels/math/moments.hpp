#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/node.hpp"

/// Moments of nodes, combined bottom-up in a fixed order, in double precision.
namespace grove {

/// Sums over the particles of a node. Lengths and masses in walk units, places in the frame of whoever
/// combines.
struct MomentSum {
  Vec3d centre{0, 0, 0};  ///< of mass; of massless particles: of their places
  double mass = 0;
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;  ///< raw second moments about the centre
  double mass_softening2 = 0;                             ///< sum of m eps^2
  double count = 0;                                       ///< particles
  float least_softening = 0, largest_softening = 0;
};

/// The sums over the particles of a bucket, summed in their order. softening: by particle.
GROVE_HOST_DEVICE inline MomentSum bucket_moments(const SourceParticle* particles, const float* softening,
                                                  std::int32_t count) {
  MomentSum sum;
  sum.count = count;
  sum.least_softening = sum.largest_softening = softening[0];
  Vec3d weighted{0, 0, 0}, plain{0, 0, 0};
  for (std::int32_t i = 0; i < count; ++i) {
    const Vec3d p = particles[i].position.as<double>();
    const double m = particles[i].mass, eps = softening[i];
    sum.mass += m;
    weighted += p * m;
    plain += p;
    sum.mass_softening2 += m * eps * eps;
    sum.least_softening = softening[i] < sum.least_softening ? softening[i] : sum.least_softening;
    sum.largest_softening = softening[i] > sum.largest_softening ? softening[i] : sum.largest_softening;
  }
  sum.centre = sum.mass > 0 ? weighted * (1 / sum.mass) : plain * (1 / sum.count);
  for (std::int32_t i = 0; i < count; ++i) {
    const Vec3d d = particles[i].position.as<double>() - sum.centre, md = d * double{particles[i].mass};
    sum.xx += md.x * d.x, sum.yy += md.y * d.y, sum.zz += md.z * d.z;
    sum.xy += md.x * d.y, sum.xz += md.x * d.z, sum.yz += md.y * d.z;
  }
  return sum;
}

/// The sums of two disjoint sets together (parallel axis theorem).
GROVE_HOST_DEVICE inline MomentSum operator+(const MomentSum& a, const MomentSum& b) {
  MomentSum sum;
  sum.mass = a.mass + b.mass;
  sum.count = a.count + b.count;
  const double share = sum.mass > 0 ? b.mass / sum.mass : b.count / sum.count;
  const Vec3d d = b.centre - a.centre;
  sum.centre = a.centre + d * share;
  const double reduced = a.mass * share;  // m_a m_b / (m_a + m_b), and 0 where nothing has mass
  sum.xx = a.xx + b.xx + reduced * d.x * d.x;
  sum.yy = a.yy + b.yy + reduced * d.y * d.y;
  sum.zz = a.zz + b.zz + reduced * d.z * d.z;
  sum.xy = a.xy + b.xy + reduced * d.x * d.y;
  sum.xz = a.xz + b.xz + reduced * d.x * d.z;
  sum.yz = a.yz + b.yz + reduced * d.y * d.z;
  sum.mass_softening2 = a.mass_softening2 + b.mass_softening2;
  sum.least_softening = a.least_softening < b.least_softening ? a.least_softening : b.least_softening;
  sum.largest_softening =
      a.largest_softening > b.largest_softening ? a.largest_softening : b.largest_softening;
  return sum;
}

/// The moments as walks read them.
GROVE_HOST_DEVICE inline NodeMoments node_moments(const MomentSum& s) {
  const auto f = [](double value) { return static_cast<float>(value); };
  // Exactly that of all where they share one, which spares the division.
  const bool is_mixed = s.least_softening != s.largest_softening && s.mass > 0;
  const float softening2 =
      is_mixed ? f(s.mass_softening2 / s.mass) : s.largest_softening * s.largest_softening;
  return {f(s.xx), f(s.yy), f(s.zz), f(s.xy), f(s.xz), f(s.yz), softening2, 0};
}

/// The core but for its radius, reach2 and power.
GROVE_HOST_DEVICE inline NodeCore node_core(const MomentSum& s) {
  const float softening =
      s.least_softening == s.largest_softening ? s.largest_softening : -s.largest_softening;
  return {s.centre.as<float>(), static_cast<float>(s.mass), 0, softening, 0, 0};
}

}  // namespace grove
