#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/direct/direct_sum.hpp"
#include "particles/particles.hpp"
#include "support/distributions.hpp"
#include "support/grown.hpp"

namespace grove::testing {

inline GravityParameters gravity_of(Criterion criterion, Order order, SofteningKernel kernel,
                                    double softening) {
  GravityParameters gravity;
  gravity.criterion = criterion;
  gravity.order = order;
  gravity.kernel = kernel;
  gravity.softening.fill(softening);
  return gravity;
}

/// Particles of types 0, 1 and 2 on a lattice of step 0.25.
inline Particles make_lattice(std::size_t count) {
  Particles particles = make_shape(Shape::uniform, count);
  for (std::size_t i = 0; i < count; ++i) {
    particles.type[i] = static_cast<std::uint8_t>(i / 5 % 3);
    particles.position[i] =
        Vec3d{static_cast<double>(i % 3), static_cast<double>(i / 3 % 4), static_cast<double>(i / 12 % 4)} *
        0.25;
  }
  return particles;
}
/// The radii of the splines of types 1 and 2 are distances on that lattice, within rounding.
inline constexpr std::array<double, particle_types> lattice_softening{
    0.01, 0.25 / spline_radius_over_softening, 0.5 / spline_radius_over_softening, 0.01, 0.01, 0.01};

/// Direct sums for all particles, in their order.
inline std::vector<DirectForce> direct_forces(const Particles& particles, const GravityParameters& gravity) {
  std::vector<double> softening;
  std::vector<DirectTarget> targets;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    softening.push_back(gravity.softening[particles.type[i]]);
    targets.push_back({particles.position[i], softening.back(), particles.id[i]});
  }
  std::vector<DirectForce> forces(particles.size());
  direct_sum(gravity.kernel,
             {particles.position.data(), particles.mass.data(), softening.data(), particles.id.data(),
              particles.size()},
             targets, forces);
  for (DirectForce& f : forces) {
    f.acceleration *= gravity.gravitational_constant;
    f.potential *= gravity.gravitational_constant;
  }
  return forces;
}

/// Relative errors of the accelerations, sorted.
inline std::vector<double> relative_errors(const Particles& particles,
                                           const std::vector<DirectForce>& exact) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < particles.size(); ++i)
    errors.push_back(norm(particles.acceleration[i].as<double>() - exact[i].acceleration) /
                     norm(exact[i].acceleration));
  std::sort(errors.begin(), errors.end());
  return errors;
}

inline double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// |acceleration| of the particles becomes their history; returns its median.
inline double remember_accelerations(Particles& particles) {
  std::vector<float> sizes;
  for (std::size_t i = 0; i < particles.size(); ++i)
    sizes.push_back(particles.old_acceleration[i] =
                        static_cast<float>(norm(particles.acceleration[i].as<double>())));
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  return sizes[sizes.size() / 2];
}

/// A forest over the particles, with the history that the criterion needs: of a first evaluation with the
/// opening angle.
struct History {
  Grown grown;
  double median = 0;

  History(Particles& particles, const GravityParameters& gravity, Count quantum) {
    grown.prepare(particles, *std::max_element(gravity.softening.begin(), gravity.softening.end()));
    grown.sort(particles, quantum);
    grown.build(particles, *tree_builder(gravity));
    if (gravity.needs_old_acceleration()) {
      grown.moments(particles, gravity.first_evaluation(), 0);
      grown.walk(particles, gravity.first_evaluation());
      median = remember_accelerations(particles);
    }
    grown.moments(particles, gravity, median);
  }
};

/// Walks as `grove force` does.
inline WalkCounts evaluate(Particles& particles, const GravityParameters& gravity, Count quantum) {
  const History history(particles, gravity, quantum);
  return gravity.walk == WalkKind::rope ? history.grown.walk_along_ropes(particles, gravity, history.median)
                                        : history.grown.walk(particles, gravity);
}

}  // namespace grove::testing
