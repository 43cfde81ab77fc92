#pragma once

#include <algorithm>
#include <boost/math/interpolators/cubic_hermite.hpp>
#include <cmath>
#include <vector>

namespace grove {

/// Radii in equal logarithmic steps from `inner` to `outer`.
struct RadialGrid {
  double inner, outer;
  std::size_t intervals = 600;

  double log_step() const { return std::log(outer / inner) / static_cast<double>(intervals); }
  double radius(std::size_t i) const { return inner * std::exp(static_cast<double>(i) * log_step()); }
};

/// A function of the radius, given by values and derivatives with respect to ln r on a grid, between them a
/// cubic (error: fourth derivative times step^4 / 384). Outside the grid: the value at its end.
class RadialTable {
 public:
  RadialTable(const RadialGrid& grid, std::vector<double> values, std::vector<double> derivatives)
      : first_(std::log(grid.inner)),
        last_(first_ + static_cast<double>(grid.intervals) * grid.log_step() * (1 - 1e-15)),
        spline_(std::move(values), std::move(derivatives), first_, grid.log_step()) {}

  double operator()(double r) const { return at_log(std::log(r)); }
  double at_log(double log_r) const { return spline_(std::clamp(log_r, first_, last_)); }
  double slope_at_log(double log_r) const { return spline_.prime(std::clamp(log_r, first_, last_)); }

 private:
  double first_, last_;
  boost::math::interpolators::cardinal_cubic_hermite<std::vector<double>> spline_;
};

}  // namespace grove
