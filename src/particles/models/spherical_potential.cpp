#include "particles/models/spherical_potential.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <numbers>

namespace grove {
namespace {

using Quadrature = boost::math::quadrature::gauss<double, 10>;

/// The integral over ln r, from a value at the inner end of the grid.
RadialTable integrate(const RadialGrid& grid, double start, const std::function<double(double)>& derivative) {
  std::vector<double> values{start}, derivatives{derivative(grid.inner)};
  const auto of_log = [&](double log_r) { return derivative(std::exp(log_r)); };
  for (std::size_t i = 0; i < grid.intervals; ++i) {
    const double low = std::log(grid.radius(i)), high = std::log(grid.radius(i + 1));
    values.push_back(values.back() + Quadrature::integrate(of_log, low, high));
    derivatives.push_back(derivative(grid.radius(i + 1)));
  }
  return {grid, std::move(values), std::move(derivatives)};
}

}  // namespace

SphericalPotential::SphericalPotential(double gravitational_constant, const RadialGrid& grid,
                                       std::function<double(double)> density)
    : grid_(grid),
      constant_(4 * std::numbers::pi * gravitational_constant),
      density_(std::move(density)),
      // Within the cusp rho ~ 1/r: the mass is 2 pi rho r^3, and the potential rises linearly.
      gm_(integrate(grid, 0.5 * source(grid.inner) * std::pow(grid.inner, 3),
                    [this](double r) { return source(r) * r * r * r; })),
      potential_(integrate(grid, gm_(grid.inner) / grid.inner, [this](double r) { return gm_(r) / r; })),
      depth_(potential_(grid.outer) + gm_(grid.outer) / grid.outer) {}

double SphericalPotential::gm(double r) const {
  const double x = r / grid_.inner;
  return x < 1 ? gm_(grid_.inner) * x * x : gm_(r);
}

double SphericalPotential::source(double r) const { return constant_ * density_(r); }

}  // namespace grove
