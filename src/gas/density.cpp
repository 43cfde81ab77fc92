#include "gas/density.hpp"

#include <cmath>
#include <numbers>

namespace grove {
namespace {

constexpr double sphere = 4 * std::numbers::pi / 3;
/// Steps of Newton's method double the digits, so that the last one leaves 1e-6 of H.
constexpr double last_step = 1e-3, least_of_radius = 0x1p-20;
constexpr int most_steps = 60;

std::vector<GasNeighbour>& memory_of_thread() {
  thread_local std::vector<GasNeighbour> neighbours;
  return neighbours;
}

}  // namespace

double DensitySum::mass_within(double H) const { return sphere * H * H * H * density; }
double DensitySum::growth(double H) const { return sphere * H * H * (3 * density + H * slope); }

DensitySum density_sum(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours, double H) {
  const KernelValue own = kernel_at(kernel, 0, H);
  DensitySum sum{mass * own.value, mass * slope_by_support(own, 0, H)};
  for (const GasNeighbour& neighbour : neighbours) {
    if (!(neighbour.r < H)) continue;
    const KernelValue w = kernel_at(kernel, neighbour.r, H);
    sum.density += neighbour.mass * w.value;
    sum.slope += neighbour.mass * slope_by_support(w, neighbour.r, H);
  }
  return sum;
}

double support_radius(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours,
                      double radius, double first) {
  const double wanted = neighbours_of(kernel) * mass;
  double low = least_of_radius * radius, high = radius;
  if (density_sum(kernel, mass, neighbours, high).mass_within(high) < wanted) return 0;
  if (density_sum(kernel, mass, neighbours, low).mass_within(low) >= wanted) return low;
  double H = first > low && first < high ? first : 0.5 * (low + high);
  for (int step = 0; step < most_steps; ++step) {
    const DensitySum sum = density_sum(kernel, mass, neighbours, H);
    const double excess = sum.mass_within(H) - wanted;
    (excess < 0 ? low : high) = H;
    double next = H - excess / sum.growth(H);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double change = std::abs(next - H);
    H = next;
    if (change < last_step * H) break;
  }
  return H;
}

double larger_radius(SmoothingKernel kernel, double mass, std::vector<GasNeighbour>& neighbours,
                     double radius) {
  const double within = density_sum(kernel, mass, neighbours, radius).mass_within(radius);
  return radius * std::clamp(std::cbrt(neighbours_of(kernel) * mass / within), 1.2, 2.0);
}

FindDensity::Sum::Sum() : neighbours(memory_of_thread()) { neighbours.clear(); }

void FindDensity::particle(Sum& sum, const NeighbourPair& pair) const {
  sum.neighbours.push_back({std::sqrt(pair.r2), sources[pair.source].mass, pair.d, pair.source});
}

void FindDensity::finish(std::uint32_t i, const Sum& sum) const {
  std::vector<GasNeighbour>& neighbours = sum.neighbours;
  const double mass = sources[i].mass;
  const double H = support_radius(gas.kernel, mass, neighbours, radius[i], first[i]);
  smoothing_length[i] = H;
  if (H == 0) {
    radius[i] = larger_radius(gas.kernel, mass, neighbours, radius[i]);
    return;
  }
  const DensitySum found = density_sum(gas.kernel, mass, neighbours, H);
  density[i] = found.density;
  // Springel and Hernquist 2002, eq. 8.
  const double f = 1 / (1 + H * found.slope / (3 * found.density));
  response[i] = static_cast<float>(f);
  GasFlow at = flow(i, neighbours, H);
  at.divergence *= f / found.density;
  at.curl *= f / found.density;
  divergence[i] = static_cast<float>(at.divergence);
  balsara[i] = static_cast<float>(at.balsara(gas.sound_speed(energy[i]), H));
}

/// Times the density.
GasFlow FindDensity::flow(std::uint32_t i, const std::vector<GasNeighbour>& neighbours, double H) const {
  double divergence_sum = 0;
  Vec3d curl{0, 0, 0};
  for (const GasNeighbour& neighbour : neighbours) {
    if (!(neighbour.r < H && neighbour.r > 0)) continue;
    const Vec3d v = sources[neighbour.number].velocity - sources[i].velocity;
    const double weight = -neighbour.mass * kernel_at(gas.kernel, neighbour.r, H).slope / neighbour.r;
    divergence_sum += weight * dot(v, neighbour.d);
    curl += weight * cross(v, neighbour.d);
  }
  return {divergence_sum, norm(curl)};
}

}  // namespace grove
