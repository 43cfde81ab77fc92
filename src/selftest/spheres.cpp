#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "selftest/evaluated.hpp"

namespace grove {
namespace {

constexpr Count n = 20000;

/// A sphere of scale length 1 as its formulas say; the model may end somewhere, which adds a constant to its
/// potential inside, and no force.
struct Sphere {
  const char *model, *name;
  std::function<double(double)> mass_inside, potential;
};

const double nfw_mass = std::log(16.0) - 15.0 / 16;  ///< of concentration 15, over 4 pi rho_s r_s^3

const std::vector<Sphere>& spheres() {
  static const std::vector<Sphere> all = {
      {"plummer", "Plummer sphere", [](double r) { return std::pow(1 + 1 / (r * r), -1.5); },
       [](double r) { return -1 / std::sqrt(1 + r * r); }},
      {"hernquist", "Hernquist sphere", [](double r) { return r * r / ((1 + r) * (1 + r)); },
       [](double r) { return -1 / (1 + r); }},
      {"nfw", "NFW sphere", [](double r) { return (std::log1p(r) - r / (1 + r)) / nfw_mass; },
       [](double r) { return -std::log1p(r) / r / nfw_mass; }},
  };
  return all;
}

/// Particles in the order of their distance from the origin.
struct ByRadius {
  const Particles& particles;
  std::vector<double> radius;
  std::vector<std::uint32_t> order;

  explicit ByRadius(const Particles& p) : particles(p), radius(p.size()), order(p.size()) {
    for (std::size_t i = 0; i < p.size(); ++i) radius[i] = norm(p.position[i]);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return radius[a] < radius[b]; });
  }
  double quantile(double fraction) const {
    return radius[order[static_cast<std::size_t>(fraction * static_cast<double>(order.size()))]];
  }
  /// Mean of value(i) over a tenth of the particles, those around this fraction.
  double mean(double fraction, const std::function<double(std::size_t)>& value) const {
    const auto size = static_cast<double>(order.size());
    const auto first = static_cast<std::size_t>((fraction - 0.05) * size),
               last = static_cast<std::size_t>((fraction + 0.05) * size);
    double sum = 0;
    for (std::size_t k = first; k < last; ++k) sum += value(order[k]);
    return sum / static_cast<double>(last - first);
  }
};

/// Inward acceleration over what the mass inside gives. A sample has sqrt(f (1 - f) / N) more or less of its
/// particles inside the radius that holds the fraction f, so the force is off by sqrt((1 - f) / (f N)): four
/// of that, and 0.001 for the tree (its 99th percentile is 0.004, of either sign).
void check_forces(const Sphere& sphere, const ByRadius& sorted, const SelfCheckReport& report) {
  const Particles& p = sorted.particles;
  for (const double f : {0.1, 0.5, 0.9}) {
    const double ratio = sorted.mean(f, [&](std::size_t i) {
      const double r = sorted.radius[i];
      return -dot(p.acceleration[i].as<double>(), p.position[i]) * r / sphere.mass_inside(r);
    });
    report({fmt::format("{}: force at {:.0f} % of the mass, over the formula's", sphere.name, 100 * f), ratio,
            1, 4 * std::sqrt((1 - f) / (f * n)) + 0.001});
  }
}

/// Potential at the radius of a tenth of the mass less that at nine tenths, over what the formula gives. A
/// potential is the sum of m / max(r, r'), N terms of a variance below their mean times their largest value,
/// 1 / r: its standard deviation is below sqrt(|phi| / (r N)). Four of that of both.
void check_potential(const Sphere& sphere, const ByRadius& sorted, const SelfCheckReport& report) {
  const auto depth = [&](const std::function<double(std::size_t)>& potential) {
    return sorted.mean(0.1, potential) - sorted.mean(0.9, potential);
  };
  const double found = depth([&](std::size_t i) { return double{sorted.particles.potential[i]}; });
  const double expected = depth([&](std::size_t i) { return sphere.potential(sorted.radius[i]); });
  double deviation = 0;
  for (const double f : {0.1, 0.9}) {
    const double r = sorted.quantile(f);
    deviation += std::sqrt(-sphere.potential(r) / (r * n));
  }
  report({fmt::format("{}: depth of the potential, over the formula's", sphere.name), found / expected, 1,
          4 * deviation / std::abs(expected)});
}

/// The radius of half of the endless sphere's mass, of which the model has `whole`. A quantile q is known to
/// sqrt(q (1 - q) / N) over the density of particles there; four of that.
void check_half_mass_radius(const char* name, const ByRadius& sorted, double expected, double whole,
                            double slope, const SelfCheckReport& report) {
  const double q = 0.5 / whole;
  report({fmt::format("{}: half-mass radius", name), sorted.quantile(q), expected,
          4 * std::sqrt(q * (1 - q) / n) / (slope / whole)});
}

/// W over the formula's, and 2 T / |W|. The terms of W have a variance of about W^2 / 2, those of T less:
/// four standard deviations, and what the missing outskirts take, `edge`.
void check_energies(const char* name, const Totals& totals, double potential_energy, double edge,
                    const SelfCheckReport& report) {
  const double tolerance = 4 / std::sqrt(n) + edge;
  report({fmt::format("{}: potential energy, over the formula's", name),
          totals.potential_energy / potential_energy, 1, tolerance});
  report({fmt::format("{}: kinetic energy, over that of equilibrium", name),
          2 * totals.kinetic_energy / -potential_energy, 1, tolerance});
}

void check_sphere(const Sphere& sphere, const ByRadius& sorted, const Totals& totals,
                  const SelfCheckReport& report) {
  check_forces(sphere, sorted, report);
  check_potential(sphere, sorted, report);
  using std::numbers::pi;
  if (sphere.model == std::string("plummer")) {
    const double half = 1.3048;
    check_half_mass_radius(sphere.name, sorted, half, 0.999,
                           3 * half * half * std::pow(1 + half * half, -2.5), report);
    // A thousandth of the mass is missing, twice in W; the pressure at the edge is of that order too.
    check_energies(sphere.name, totals, -3 * pi / 32, 0.003, report);
  }
  if (sphere.model == std::string("hernquist")) {
    const double half = 1 + std::numbers::sqrt2, whole = 2500.0 / (51 * 51);
    check_half_mass_radius(sphere.name, sorted, half, whole, 2 * half / std::pow(1 + half, 3), report);
    // The mass beyond 50 scale lengths would add 2 int r^2 / (r + 1)^5 dr to 1/6: 3.8e-4, or 0.23 %.
    check_energies(sphere.name, totals, -1.0 / 6, 0.0035, report);
  }
}

/// The default parameters keep this bound in docs/measurements/accuracy.md.
void check_accuracy(const Evaluated& evaluated, const char* name, const SelfCheckReport& report) {
  const AuditResult audit = evaluated.backend->audit(evaluated.domain, 1000);
  report({fmt::format("{}: 99th percentile of the force error, by direct summation", name), audit.p99, 0,
          0.001});
}

}  // namespace

void check_spheres(const SelfTestMachine& machine, const SelfCheckReport& report) {
  for (const Sphere& sphere : spheres()) {
    GravityParameters gravity;
    // Pairs within 2.8 of this are a fraction of 1e-5 of all, even in the cusps.
    gravity.softening.fill(0.001);
    const Evaluated evaluated(machine, model_particles(machine.comm, sphere.model, n), gravity);
    const Particles all = evaluated.all(machine.comm);
    check_sphere(sphere, ByRadius(all), evaluated.backend->totals(evaluated.domain), report);
    check_accuracy(evaluated, sphere.name, report);
  }
}

}  // namespace grove
