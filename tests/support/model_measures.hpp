#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "particles/models/parameters.hpp"
#include "particles/particles.hpp"

namespace grove::test {

/// n = 0: the model's default.
inline ModelParameters parameters(const std::string& model, Count n = 0) {
  ModelParameters p;
  p.model = model;
  p.particles = n;
  return p;
}

/// Largest distance between the distribution of the samples and the cumulative function (Kolmogorov and
/// Smirnov). It exceeds 1.95 / sqrt(n) by chance in 1 of 1000 cases.
inline double distribution_distance(std::vector<double> samples,
                                    const std::function<double(double)>& cumulative) {
  std::sort(samples.begin(), samples.end());
  const double n = static_cast<double>(samples.size());
  double distance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double c = cumulative(samples[i]);
    distance = std::max({distance, c - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - c});
  }
  return distance;
}

inline double distribution_limit(std::size_t n) { return 1.95 / std::sqrt(static_cast<double>(n)); }

inline std::vector<double> radii(const Particles& particles) {
  std::vector<double> result;
  for (const Vec3d& p : particles.position) result.push_back(norm(p));
  return result;
}

inline double kinetic_energy(const Particles& particles) {
  double energy = 0;
  for (std::size_t i = 0; i < particles.size(); ++i)
    energy += 0.5 * particles.mass[i] * norm2(particles.velocity[i]);
  return energy;
}

/// - integral of G M(r) dM / r of a spherical distribution, over sorted particles of equal mass; cost n log
/// n.
inline double spherical_potential_energy(const Particles& particles) {
  std::vector<double> r = radii(particles);
  std::sort(r.begin(), r.end());
  const double m = particles.mass[0];
  double energy = 0;
  for (std::size_t i = 0; i < r.size(); ++i) energy -= m * m * static_cast<double>(i) / r[i];
  return energy;
}

/// One-dimensional velocity dispersion of the particles between two radii, and how many they are.
struct Dispersion {
  double sigma;
  double count;
};
inline Dispersion dispersion(const Particles& particles, double low, double high) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double r = norm(particles.position[i]);
    if (r < low || r >= high) continue;
    sum += norm2(particles.velocity[i]) / 3;
    ++count;
  }
  return {std::sqrt(sum / count), count};
}

}  // namespace grove::test
