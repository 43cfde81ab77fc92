#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::test {

// docs/walks.md shows the lines from here to the end of the struct; the test looks whether they are the same.

/// Molecules that attract each other from afar and repel each other from near, U = 4 (r^-12 - r^-6), in units
/// of its depth and size. Beyond the cut-off there is nothing: energy and force go to 0 there.
struct LennardJones {
  struct Sum {
    Vec3d force{0, 0, 0};
    double energy = 0;
  };
  double cut;      ///< the radius within which neighbours are searched
  Vec3d* force;    ///< out: [own particles]
  double* energy;  ///< out: half of that of all pairs that a particle is in

  GROVE_HOST_DEVICE static double potential(double r) { return 4 * (std::pow(r, -12) - std::pow(r, -6)); }
  GROVE_HOST_DEVICE static double slope(double r) { return 24 * (std::pow(r, -7) - 2 * std::pow(r, -13)); }

  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair& pair) const {
    const double r = std::sqrt(pair.r2), slope_at_cut = slope(cut);
    sum.energy += 0.5 * (potential(r) - potential(cut) - (r - cut) * slope_at_cut);
    sum.force += (slope(r) - slope_at_cut) / r * pair.d;
  }
  GROVE_HOST_DEVICE void finish(std::uint32_t target, const Sum& sum) const {
    force[target] = sum.force;
    energy[target] = sum.energy;
  }
};

}  // namespace grove::test
