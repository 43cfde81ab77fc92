#pragma once

#include <cstdint>
#include <vector>

#include "kernels/math/gas.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove {

/// A neighbour of a particle of gas while its H is searched.
struct GasNeighbour {
  double r, mass;
  Vec3d d;               ///< from the particle to it
  std::uint32_t number;  ///< among own and imported particles
};

/// A source of the flow.
struct FlowSource {
  Vec3d velocity;
  double mass;
};

/// Sums over all neighbours within H, the particle included.
struct DensitySum {
  double density = 0, slope = 0;  ///< rho, d rho / dH
  /// 4 pi H^3 rho / 3, and by dH.
  double mass_within(double H) const;
  double growth(double H) const;
};
DensitySum density_sum(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours, double H);

/// H of the particle with these neighbours, all that there are within `radius`: 4 pi H^3 rho / 3 =
/// neighbours_of(kernel) m, by Newton's method from `first` on, and where it leaves the interval that holds H
/// by bisection, until a step is below 1e-3 of H. 0: it is larger than radius. Particles that share one
/// place have a millionth of the radius, not 0. Cost: neighbours times steps.
double support_radius(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours,
                      double radius, double first);

/// A radius to search next, where H is larger than this one.
double larger_radius(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours,
                     double radius);

/// The visitor that finds H, rho and the flow of active particles from all neighbours within a radius that is
/// larger than H. Arrays by own particle; sources also by imported ones.
struct FindDensity {
  struct Sum {
    Sum();
    std::vector<GasNeighbour>& neighbours;  ///< memory of the thread
  };
  const GasParameters& gas;
  const std::uint8_t* is_wanted;  ///< in
  const double* first;            ///< in: H to begin with; 0: none
  const FlowSource* sources;      ///< in
  const double* energy;           ///< in: u
  double* radius;                 ///< in: of the search; out: the next one to be tried, if H is larger
  double* smoothing_length;       ///< out, and the next: 0, if it is larger than the radius
  double* density;
  float *response, *divergence, *balsara;

  bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
  void particle(Sum& sum, const NeighbourPair& pair) const;
  void finish(std::uint32_t i, const Sum& sum) const;

 private:
  GasFlow flow(std::uint32_t i, const std::vector<GasNeighbour>& neighbours, double H) const;
};

}  // namespace grove
