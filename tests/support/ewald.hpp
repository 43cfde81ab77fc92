#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "base/vec3.hpp"

namespace grove {

/// Periodic gravity (G = 1) of point masses in double precision, as two sums that converge fast (Ewald 1921,
/// Ann. Phys. 369, 253), each to 1e-15: pairs with (1 - erf)(alpha r) / r, and waves. The potential has the
/// mean 0, and contains that of the images of the particle at the place itself.
class Ewald {
 public:
  /// In a box of edge `edge`; both arrays must outlive this. Cost: 4000 operations a particle.
  Ewald(std::span<const Vec3d> position, std::span<const double> mass, double edge)
      : position_(position), mass_(mass), edge_(edge) {
    for (int x = 0; x <= most; ++x)
      for (int y = x == 0 ? 0 : -most; y <= most; ++y)
        for (int z = x == 0 && y == 0 ? 1 : -most; z <= most; ++z)
          if (x * x + y * y + z * z <= most * most) waves_.push_back({x, y, z});
    sums_.resize(waves_.size());
    for (std::size_t i = 0; i < position.size(); ++i) {
      const Phases phases(position[i] * (1 / edge));
      for (std::size_t w = 0; w < waves_.size(); ++w) sums_[w] += mass[i] * phases(waves_[w]);
      total_ += mass[i];
    }
  }

  struct Force {
    Vec3d acceleration{0, 0, 0};
    double potential = 0;
  };
  /// A particle just there does not act but through its images. Cost: 100 operations a particle.
  Force at(const Vec3d& place) const {
    const Force near = of_pairs(place), waves = of_waves(place);
    return {(near.acceleration + waves.acceleration) * (1 / (edge_ * edge_)),
            (near.potential + waves.potential) / edge_};
  }

 private:
  static constexpr double alpha = 5;     // in units of 1 / edge
  static constexpr int most = 10;        // exp(-pi^2 100 / 25) = 7e-18
  static constexpr double reach = 1.25;  // erfc(6.25) = 1e-18

  struct Wave {
    int x, y, z;
  };
  /// e^(2 pi i h.x) for whole h.
  struct Phases {
    std::vector<std::complex<double>> x, y, z;
    explicit Phases(const Vec3d& r) : x(powers(r.x)), y(powers(r.y)), z(powers(r.z)) {}
    static std::vector<std::complex<double>> powers(double c) {
      std::vector<std::complex<double>> all;
      for (int k = -most; k <= most; ++k) all.push_back(std::polar(1.0, 2 * std::numbers::pi * k * c));
      return all;
    }
    std::complex<double> operator()(const Wave& w) const {
      return x[static_cast<std::size_t>(w.x + most)] * y[static_cast<std::size_t>(w.y + most)] *
             z[static_cast<std::size_t>(w.z + most)];
    }
  };

  Force of_pairs(const Vec3d& place) const {
    Force force;
    for (std::size_t j = 0; j < position_.size(); ++j) {
      const Vec3d apart = (position_[j] - place) * (1 / edge_);
      const Vec3d nearest{apart.x - std::round(apart.x), apart.y - std::round(apart.y),
                          apart.z - std::round(apart.z)};
      for (int n = 0; n < 27; ++n) {
        const Vec3d d = nearest + Vec3d{n % 3 - 1.0, n / 3 % 3 - 1.0, n / 9 - 1.0};
        const double r = norm(d);
        if (r > reach) continue;
        const double slope = 2 * alpha / std::sqrt(std::numbers::pi);
        if (r == 0) {
          force.potential += mass_[j] * slope;
          continue;
        }
        const double tail = std::erfc(alpha * r) / r;
        force.potential -= mass_[j] * tail;
        force.acceleration += d * (mass_[j] * (tail + slope * std::exp(-alpha * alpha * r * r)) / (r * r));
      }
    }
    force.potential += total_ * std::numbers::pi / (alpha * alpha);
    return force;
  }

  Force of_waves(const Vec3d& place) const {
    Force force;
    const Phases phases(place * (1 / edge_));
    for (std::size_t w = 0; w < waves_.size(); ++w) {
      const Vec3d h{static_cast<double>(waves_[w].x), static_cast<double>(waves_[w].y),
                    static_cast<double>(waves_[w].z)};
      const double h2 = norm2(h), pi = std::numbers::pi;
      const double size = 2 * std::exp(-pi * pi * h2 / (alpha * alpha)) / (pi * h2);
      const std::complex<double> term = sums_[w] * std::conj(phases(waves_[w]));  // e^(2 pi i h (y - x))
      force.potential -= size * term.real();
      force.acceleration += h * (2 * pi * size * term.imag());
    }
    return force;
  }

  std::span<const Vec3d> position_;
  std::span<const double> mass_;
  double edge_, total_ = 0;
  std::vector<Wave> waves_;
  std::vector<std::complex<double>> sums_;
};

}  // namespace grove
