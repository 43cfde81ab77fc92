#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "base/box.hpp"
#include "base/hash.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// Particles of a periodic box, of mass 1 in all.
namespace grove {

inline constexpr double box_edge = 3;

inline Particles box_of(std::size_t count) {
  Particles particles;
  particles.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    particles.mass[i] = 1 / static_cast<double>(count);
    particles.id[i] = mixed(i);
  }
  return particles;
}

inline Particles random_box(std::size_t count) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, box_edge);
  Particles particles = box_of(count);
  for (Vec3d& p : particles.position) p = {uniform(random), uniform(random), uniform(random)};
  return particles;
}

/// Eight clumps whose density falls with the square of the radius, some across faces of the box, in a thin
/// background.
inline Particles clustered_box(std::size_t count) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Particles particles = box_of(count);
  std::vector<Vec3d> centres;
  for (int c = 0; c < 8; ++c) centres.push_back({uniform(random), uniform(random), uniform(random)});
  centres[0] = {0, 0, 0};
  const Box box = Box::periodic(box_edge);
  for (std::size_t i = 0; i < count; ++i) {
    Vec3d direction{normal(random), normal(random), normal(random)};
    direction *= 0.15 * uniform(random) / norm(direction);
    if (i % 9 == 8) direction = {uniform(random), uniform(random), uniform(random)};
    particles.position[i] = box.wrapped(box_edge * (centres[i % 8] + direction));
  }
  return particles;
}

/// A lattice of n^3 sites that waves of small amplitude have displaced.
inline Particles displaced_lattice(std::size_t n, double amplitude) {
  Particles particles = box_of(n * n * n);
  const double spacing = 1.0 / static_cast<double>(n), pi = std::numbers::pi;
  const Box box = Box::periodic(box_edge);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3d q = spacing * Vec3d{static_cast<double>(i % n) + 0.5, static_cast<double>(i / n % n) + 0.5,
                                    static_cast<double>(i / n / n) + 0.5};
    const Vec3d s{std::sin(2 * pi * (q.x + 2 * q.y)), std::sin(2 * pi * (3 * q.y - q.x)),
                  std::sin(2 * pi * (q.z + q.x + q.y))};
    particles.position[i] = box.wrapped(box_edge * (q + amplitude * spacing * s));
  }
  return particles;
}

inline GravityParameters periodic_parameters(double delta) {
  GravityParameters parameters;
  parameters.gravitational_constant = 2;
  parameters.delta = delta;
  parameters.softening.fill(1e-6);
  parameters.images = {box_edge};
  return parameters;
}

}  // namespace grove
