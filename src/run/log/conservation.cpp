#include "conservation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

void Conservation::add(const Totals& now, double energy_error, double largest_energy_error) {
  energy = energy_error;
  largest_energy = largest_energy_error;
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

Turning turning_of(const Communicator& comm, const Particles& particles, const Totals& totals) {
  const Vec3d centre = totals.centre_of_mass();
  const Vec3d velocity = totals.mass > 0 ? (1 / totals.mass) * totals.momentum : Vec3d{};
  const Count all = comm.sum(static_cast<Count>(particles.size()));
  std::vector<double> terms;
  Turning turning;
  for (std::uint8_t type = 0; type < particle_types; ++type) {
    const auto sum = [&](auto&& term) {
      terms.clear();
      for (std::size_t i = 0; i < particles.size(); ++i)
        if (particles.type[i] == type)
          terms.push_back(
              term(particles.mass[i], particles.position[i] - centre, particles.velocity[i] - velocity));
      return exact_sums(comm, terms, 1, all)[0];
    };
    Vec3d spin;
    for (int axis = 0; axis < 3; ++axis)
      spin[axis] = sum([axis](double m, const Vec3d& x, const Vec3d& v) { return m * cross(x, v)[axis]; });
    const double absolute =
        sum([](double m, const Vec3d& x, const Vec3d& v) { return m * norm(cross(x, v)); });
    const double squares =
        sum([](double m, const Vec3d& x, const Vec3d& v) { return m * m * norm2(cross(x, v)); });
    if (norm(spin) > std::min(2.5 * std::sqrt(squares), 0.5 * absolute))
      turning.coherent = std::max(turning.coherent, norm(spin));
    turning.bound += sum([](double m, const Vec3d& x, const Vec3d& v) { return m * norm(x) * norm(v); });
  }
  return turning;
}

bool is_read_by_turning(const FieldInfo& info) {
  return info.name == fields::mass.info.name || info.name == fields::position.info.name ||
         info.name == fields::velocity.info.name || info.name == fields::type.info.name;
}

}  // namespace grove
