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

/// A source of the flow. Aligned so that a GPU reads two numbers at once.
struct alignas(16) FlowSource {
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

/// The search for H of a particle: 4 pi H^3 rho / 3 = neighbours_of(kernel) m, which grows with H. By
/// Newton's method from `first` on, and by bisection where that leaves the interval that holds H, until a
/// step is below 1e-3 of H; it doubles the digits, so that the last step leaves 1e-6. Particles that share
/// one place have a millionth of the radius, not 0.
class SupportSearch {
 public:
  /// wanted: the right-hand side; radius: within which the neighbours are known; first: 0 if there is none.
  GROVE_HOST_DEVICE SupportSearch(double wanted, double radius, double first)
      : wanted_(wanted), low_(least_of_radius * radius), high_(radius), radius_(radius) {
    H_ = first > low_ && first < high_ ? first : high_;
  }

  GROVE_HOST_DEVICE bool is_done() const { return is_done_; }
  /// The one to be tried next, and in the end the one that is found. 0: it is larger than the radius.
  GROVE_HOST_DEVICE double H() const { return H_; }

  /// sum: at H().
  GROVE_HOST_DEVICE void take(const DensitySum& sum) {
    constexpr double last_step = 1e-3;
    constexpr int most_steps = 60;
    const double excess = sum.mass_within(H_) - wanted_, least = least_of_radius * radius_;
    if (excess < 0 && H_ == radius_) return end(0);
    if (excess >= 0 && H_ == least) return end(least);
    (excess < 0 ? low_ : high_) = H_;
    (excess < 0 ? is_above_low_ : is_below_high_) = true;
    double next = H_ - excess / sum.growth(H_);
    const bool is_inside = next > low_ && next < high_;
    if (!is_inside)
      next = next >= high_ && !is_below_high_ ? radius_
             : next <= low_ && !is_above_low_ ? least
                                              : 0.5 * (low_ + high_);
    const double change = std::abs(next - H_);
    H_ = next;
    is_done_ = (is_inside && change < last_step * H_) || ++steps_ == most_steps;
  }

 private:
  static constexpr double least_of_radius = 0x1p-20;
  GROVE_HOST_DEVICE void end(double H) {
    H_ = H;
    is_done_ = true;
  }

  double wanted_, low_, high_, radius_, H_;
  int steps_ = 0;
  bool is_below_high_ = false, is_above_low_ = false;  ///< they have been tried
  bool is_done_ = false;
};

/// H of the particle with these neighbours, all that there are within `radius` (SupportSearch). 0: it is
/// larger than radius. first: 0 if there is none. Cost: neighbours times steps.
template <class Neighbours>
GROVE_HOST_DEVICE double support_radius(SmoothingKernel kernel, double mass, const Neighbours& neighbours,
                                        double radius, double first) {
  SupportSearch search(neighbours_of(kernel) * mass, radius, first);
  while (!search.is_done()) search.take(density_sum(kernel, mass, neighbours, search.H()));
  return search.H();
}

/// A radius to search next, where H is larger than this one. within: DensitySum::mass_within(radius).
GROVE_HOST_DEVICE inline double larger_radius(SmoothingKernel kernel, double mass, double within,
                                              double radius) {
  const double factor = std::cbrt(neighbours_of(kernel) * mass / within);
  return radius * (factor < 1.2 ? 1.2 : factor < 2 ? factor : 2.0);
}

/// The radius `wanted`, or, in a periodic box, as much as is less than half its edge, if the one before was
/// less than that. box_edge: 0 of open space.
GROVE_HOST_DEVICE inline double radius_in_box(double before, double wanted, double box_edge) {
  const double largest = 0.5 * (1 - 0x1p-20) * box_edge;
  return box_edge > 0 && before < largest && wanted > largest ? largest : wanted;
}

/// Sums over all neighbours within H at the H that is found, the particle included.
struct FlowSum {
  DensitySum mass;
  double divergence = 0;  ///< times the density, as the next
  Vec3d curl{0, 0, 0};

  /// w: at the distance r; weight: -m dW/dr / r of the neighbour, 0 at r = 0; d, v: from the particle to it,
  /// and its velocity beside that of the particle.
  GROVE_HOST_DEVICE void add(double neighbour_mass, const KernelValue& w, double r, double weight,
                             const Vec3d& d, const Vec3d& v) {
    mass.add(neighbour_mass, w, r);
    divergence += weight * dot(v, d);
    curl += weight * cross(v, d);
  }
};

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
    if (H == 0)
      search_farther(i, density_sum(gas.kernel, mass, neighbours, radius[i]));
    else
      find_flow(i, neighbours, H);
  }

  GROVE_HOST_DEVICE DensitySum own_density(std::uint32_t i, double H) const {
    DensitySum sum;
    sum.add(sources[i].mass, kernel_at(gas.kernel, 0, H), 0);
    return sum;
  }
  /// H is larger than the radius. sum: at the radius.
  GROVE_HOST_DEVICE void search_farther(std::uint32_t i, const DensitySum& sum) const {
    smoothing_length[i] = 0;
    radius[i] = radius_in_box(
        radius[i], larger_radius(gas.kernel, sources[i].mass, sum.mass_within(radius[i]), radius[i]),
        box_edge);
  }
  GROVE_HOST_DEVICE void store(std::uint32_t i, double H, const FlowSum& sum) const {
    smoothing_length[i] = H;
    density[i] = sum.mass.density;
    // Springel and Hernquist 2002, eq. 8.
    const double f = 1 / (1 - sum.mass.slope / (3 * sum.mass.density)), scale = f / sum.mass.density;
    response[i] = static_cast<float>(f);
    divergence[i] = static_cast<float>(sum.divergence * scale);
    const GasFlow flow{sum.divergence * scale + 3 * hubble, norm(sum.curl) * scale};
    balsara[i] = static_cast<float>(flow.balsara(gas.sound_speed(energy[i]), H));
  }

 private:
  template <class Neighbours>
  GROVE_HOST_DEVICE void find_flow(std::uint32_t i, const Neighbours& neighbours, double H) const {
    FlowSum sum{own_density(i, H)};
    const Vec3d velocity = sources[i].velocity;
    neighbours.for_each([&](const GasNeighbour& neighbour) {
      if (!(neighbour.r < H)) return;
      const KernelValue w = kernel_at(gas.kernel, neighbour.r, H);
      const double weight = neighbour.r > 0 ? -neighbour.mass * w.slope / neighbour.r : 0;
      sum.add(neighbour.mass, w, neighbour.r, weight, neighbour.d,
              sources[neighbour.number].velocity - velocity);
    });
    store(i, H, sum);
  }
};

}  // namespace grove
