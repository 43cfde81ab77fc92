#include "conservation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm/exact_sum.hpp"

namespace grove {

Vec3d spin_of(const Totals& totals) {
  return totals.angular_momentum - cross(totals.centre_of_mass(), totals.momentum);
}

void Conservation::begin(const Totals& first) {
  *this = {};
  first_momentum = first.momentum;
  first_spin = spin_of(first);
}

void Conservation::add(const Totals& now, double energy_error) {
  energy = energy_error;
  largest_energy = std::max(largest_energy, std::abs(energy));
  spin = norm(spin_of(now) - first_spin);
  largest_spin = std::max(largest_spin, spin);
  const double change = norm(now.momentum - first_momentum);
  momentum = now.absolute_momentum > 0 ? change / now.absolute_momentum : 0;
}

void Conservation::add(const AuditResult& audit) {
  ++audits;
  median = std::max(median, audit.median);
  p99 = std::max(p99, audit.p99);
  max = std::max(max, audit.max);
}

double absolute_spin(const Communicator& comm, const Particles& particles, const Totals& totals) {
  const Vec3d centre = totals.centre_of_mass();
  const Vec3d velocity = totals.mass > 0 ? (1 / totals.mass) * totals.momentum : Vec3d{};
  std::vector<double> terms(particles.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    terms[i] =
        particles.mass[i] * norm(cross(particles.position[i] - centre, particles.velocity[i] - velocity));
  return exact_sums(comm, terms, 1, comm.sum(static_cast<Count>(terms.size())))[0];
}

}  // namespace grove
