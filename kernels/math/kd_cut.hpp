#pragma once

#include <cmath>
#include <cstdint>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"

/// The cuts of kd-trees, as functions of integers, for all who build one.
///
/// Every node is cut on the longest side of the tight box of its particles (longest_axis()). Nodes of at
/// least kd_large particles are cut in the spatial middle of that side, smaller ones as KdSplit says. Source:
/// Kofler, Steinhauser, Cosenza, Grasso, Schindler, Fahringer 2014, "Kd-tree based N-body simulations with
/// volume-mass heuristic on the GPU" (IPDPS workshops), sections III and IV.
namespace grove {

/// Nodes of fewer particles are small.
inline constexpr std::int32_t kd_large = 256;

/// The spatial middle of a side: coordinates less than this go left. Of a side with any extent both parts
/// have particles.
GROVE_HOST_DEVICE constexpr Coordinate kd_middle(Coordinate low, Coordinate high) {
  const Coordinate extent = high - low;
  return low + extent / 2 + (extent & 1);
}

/// A particle's mass for the heuristic, in units of 2^-20 of the largest one of its node: integers, whose
/// sums do not depend on their order. Where no particle has mass all count the same.
GROVE_HOST_DEVICE inline std::uint64_t kd_mass(double mass, double largest) {
  constexpr double unit = 1 << 20;
  return static_cast<std::uint64_t>(largest > 0 ? std::floor(mass / largest * unit + 0.5) : unit);
}

/// Volume times mass of both parts of a node cut at a plane, over the area of its cross-section, which all
/// cuts on one axis share. low, high: of the box that is cut; masses: kd_mass(). Below 2^61, as small nodes
/// have less than 2^28 units of mass.
GROVE_HOST_DEVICE constexpr std::uint64_t volume_mass_cost(Coordinate low, Coordinate high, Coordinate plane,
                                                           std::uint64_t left_mass, std::uint64_t mass) {
  return std::uint64_t{plane - low} * left_mass + std::uint64_t{high - plane} * (mass - left_mass);
}

/// How many particles of a small node go left by the volume-mass heuristic: of the cuts between different
/// coordinates, each at the last particle on its left, the one of least cost, of equal ones the leftmost.
///
/// at(i), mass_of(i): coordinate and kd_mass() of particle i in the order of (coordinate, id), which may not
/// all have the same coordinate; mass: of all. Cost: one pass.
template <class At, class MassOf>
GROVE_HOST_DEVICE constexpr std::int32_t volume_mass_cut(std::int32_t count, Coordinate low, Coordinate high,
                                                         std::uint64_t mass, const At& at,
                                                         const MassOf& mass_of) {
  std::uint64_t left_mass = 0, least = ~std::uint64_t{0};
  std::int32_t best = 0;
  for (std::int32_t k = 1; k < count; ++k) {
    left_mass += mass_of(k - 1);
    if (at(k - 1) == at(k)) continue;
    const std::uint64_t cost = volume_mass_cost(low, high, at(k - 1), left_mass, mass);
    if (cost >= least) continue;
    least = cost;
    best = k;
  }
  return best;
}

}  // namespace grove
