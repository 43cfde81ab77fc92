#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/gas.hpp"

/// H and density of a particle of gas, from its neighbours. These are whatever has for_each(action), which
/// calls action(const GasNeighbour&) for each of them, always in the same order.
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
  static constexpr double sphere = 4 * std::numbers::pi / 3;
  double density = 0, slope = 0;  ///< rho, -H d rho / dH

  GROVE_HOST_DEVICE void add(double mass, const KernelValue& w, double r) {
    density += mass * w.value;
    slope += mass * slope_by_support(w, r);
  }
  /// 4 pi H^3 rho / 3, and by dH.
  GROVE_HOST_DEVICE double mass_within(double H) const { return sphere * H * H * H * density; }
  GROVE_HOST_DEVICE double growth(double H) const { return sphere * H * H * (3 * density - slope); }
};

template <class Neighbours>
GROVE_HOST_DEVICE DensitySum density_sum(SmoothingKernel kernel, double mass, const Neighbours& neighbours,
                                         double H) {
  DensitySum sum;
  sum.add(mass, kernel_at(kernel, 0, H), 0);
  neighbours.for_each([&](const GasNeighbour& neighbour) {
    if (neighbour.r < H) sum.add(neighbour.mass, kernel_at(kernel, neighbour.r, H), neighbour.r);
  });
  return sum;
}

/// H of the particle with these neighbours, all that there are within `radius`: 4 pi H^3 rho / 3 =
/// neighbours_of(kernel) m, which grows with H. By Newton's method from `first` on, and by bisection where
/// that leaves the interval that holds H, until a step is below 1e-3 of H; it doubles the digits, so that the
/// last step leaves 1e-6. 0: it is larger than radius. Particles that share one place have a millionth of the
/// radius, not 0. first: 0 if there is none. Cost: neighbours times steps.
template <class Neighbours>
GROVE_HOST_DEVICE double support_radius(SmoothingKernel kernel, double mass, const Neighbours& neighbours,
                                        double radius, double first) {
  constexpr double last_step = 1e-3, least_of_radius = 0x1p-20;
  constexpr int most_steps = 60;
  const double wanted = neighbours_of(kernel) * mass, least = least_of_radius * radius;
  double low = least, high = radius;
  bool is_below_high = false, is_above_low = false;  // they have been tried
  double H = first > low && first < high ? first : high;
  for (int step = 0; step < most_steps; ++step) {
    const DensitySum sum = density_sum(kernel, mass, neighbours, H);
    const double excess = sum.mass_within(H) - wanted;
    if (excess < 0 && H == radius) return 0;
    if (excess >= 0 && H == least) return least;
    (excess < 0 ? low : high) = H;
    (excess < 0 ? is_above_low : is_below_high) = true;
    double next = H - excess / sum.growth(H);
    const bool is_inside = next > low && next < high;
    if (!is_inside)
      next = next >= high && !is_below_high ? radius
             : next <= low && !is_above_low ? least
                                            : 0.5 * (low + high);
    const double change = std::abs(next - H);
    H = next;
    if (is_inside && change < last_step * H) break;
  }
  return H;
}

/// A radius to search next, where H is larger than this one.
template <class Neighbours>
GROVE_HOST_DEVICE double larger_radius(SmoothingKernel kernel, double mass, const Neighbours& neighbours,
                                       double radius) {
  const double within = density_sum(kernel, mass, neighbours, radius).mass_within(radius),
               factor = std::cbrt(neighbours_of(kernel) * mass / within);
  return radius * (factor < 1.2 ? 1.2 : factor < 2 ? factor : 2.0);
}

/// The radius `wanted`, or, in a periodic box, as much as is less than half its edge, if the one before was
/// less than that. box_edge: 0 of open space.
GROVE_HOST_DEVICE inline double radius_in_box(double before, double wanted, double box_edge) {
  const double largest = 0.5 * (1 - 0x1p-20) * box_edge;
  return box_edge > 0 && before < largest && wanted > largest ? largest : wanted;
}

/// Finds H, rho and the flow of active particles from all neighbours within a radius that is larger than H.
/// Arrays by own particle; sources also by imported ones.
struct DensityFields {
  GasParameters gas;
  const double* first;        ///< in: H to begin with; 0: none
  const FlowSource* sources;  ///< in
  const double* energy;       ///< in: u, where space expands a^2 u
  double hubble;              ///< GasSpace::hubble
  double box_edge;            ///< of the periodic box; 0: open
  double* radius;             ///< in: of the search; out: the next one to be tried, if H is larger
  double* smoothing_length;   ///< out, and the next: 0, if it is larger than the radius
  double* density;
  float *response, *divergence, *balsara;

  template <class Neighbours>
  GROVE_HOST_DEVICE void find(std::uint32_t i, const Neighbours& neighbours) const {
    const double mass = sources[i].mass;
    const double H = support_radius(gas.kernel, mass, neighbours, radius[i], first[i]);
    smoothing_length[i] = H;
    if (H == 0)
      radius[i] = radius_in_box(radius[i], larger_radius(gas.kernel, mass, neighbours, radius[i]), box_edge);
    else
      find_flow(i, neighbours, H);
  }

 private:
  template <class Neighbours>
  GROVE_HOST_DEVICE void find_flow(std::uint32_t i, const Neighbours& neighbours, double H) const {
    DensitySum sum;
    sum.add(sources[i].mass, kernel_at(gas.kernel, 0, H), 0);
    const Vec3d velocity = sources[i].velocity;
    double divergence_sum = 0;  // times the density, as the next
    Vec3d curl{0, 0, 0};
    neighbours.for_each([&](const GasNeighbour& neighbour) {
      if (!(neighbour.r < H)) return;
      const KernelValue w = kernel_at(gas.kernel, neighbour.r, H);
      sum.add(neighbour.mass, w, neighbour.r);
      if (!(neighbour.r > 0)) return;
      const Vec3d v = sources[neighbour.number].velocity - velocity;
      const double weight = -neighbour.mass * w.slope / neighbour.r;
      divergence_sum += weight * dot(v, neighbour.d);
      curl += weight * cross(v, neighbour.d);
    });
    density[i] = sum.density;
    // Springel and Hernquist 2002, eq. 8.
    const double f = 1 / (1 - sum.slope / (3 * sum.density)), scale = f / sum.density;
    response[i] = static_cast<float>(f);
    divergence[i] = static_cast<float>(divergence_sum * scale);
    const GasFlow flow{divergence_sum * scale + 3 * hubble, norm(curl) * scale};
    balsara[i] = static_cast<float>(flow.balsara(gas.sound_speed(energy[i]), H));
  }
};

}  // namespace grove
