#pragma once

#include <functional>

#include "particles/models/radial_table.hpp"

namespace grove {

/// Mass and potential of a spherical density, on a logarithmic grid between whose points both are integrated
/// by Gauss quadrature. Inside the grid the density goes as 1/r; outside there is none.
class SphericalPotential {
 public:
  /// density: rho(r), mass per volume. Cost: 10 evaluations for each of 600 intervals.
  SphericalPotential(double gravitational_constant, const RadialGrid& grid,
                     std::function<double(double)> density);

  const RadialGrid& grid() const { return grid_; }
  /// G times the mass within r.
  double gm(double r) const;
  /// 4 pi G rho(r).
  double source(double r) const;
  /// phi(r) - phi(0).
  double potential(double r) const { return potential_(r); }
  /// phi(infinity) - phi(0): the energy, counted from the centre, of what just escapes.
  double depth() const { return depth_; }

 private:
  RadialGrid grid_;
  double constant_;
  std::function<double(double)> density_;
  RadialTable gm_, potential_;
  double depth_;
};

}  // namespace grove
