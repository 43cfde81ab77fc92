#include "halos/deepest_member.hpp"

#include <algorithm>
#include <vector>

#include "decomposition/decompose.hpp"
#include "gravity/gravity.hpp"
#include "gravity/host_gravity.hpp"
#include "kernels/direct/direct_sum.hpp"

namespace grove {
namespace {

std::size_t deepest_by_sums(std::span<const Vec3d> position, std::span<const double> mass, double softening) {
  const std::vector<double> lengths(position.size(), softening);
  std::vector<ParticleId> id;
  std::vector<DirectTarget> targets;
  for (std::size_t i = 0; i < position.size(); ++i) {
    id.push_back(i);
    targets.push_back({position[i], softening, i});
  }
  std::vector<DirectForce> forces(position.size());
  direct_sum(SofteningKernel::plummer,
             {position.data(), mass.data(), lengths.data(), id.data(), position.size()}, targets, forces);
  const auto deepest =
      std::min_element(forces.begin(), forces.end(),
                       [](const DirectForce& a, const DirectForce& b) { return a.potential < b.potential; });
  return static_cast<std::size_t>(deepest - forces.begin());
}

std::size_t deepest_by_tree(const Communicator& alone, std::span<const Vec3d> position,
                            std::span<const double> mass, double softening) {
  Particles particles;
  particles.reset(position.size());
  std::copy(position.begin(), position.end(), particles.position.begin());
  std::copy(mass.begin(), mass.end(), particles.mass.begin());
  for (std::size_t i = 0; i < position.size(); ++i) particles.id[i] = i;
  DecompositionReport report;
  Array<Record> records;
  const Domain domain = decompose(alone, particles, {}, {}, report, &records);
  GravityParameters parameters;
  parameters.softening.fill(softening);
  HostGravity storage(alone, parameters, particles, records);
  PhaseTimers timers;
  Gravity(alone, parameters, storage).evaluate(domain, {}, timers);
  std::size_t deepest = 0;
  for (std::size_t i = 1; i < particles.size(); ++i) {
    const float here = particles.potential[i], there = particles.potential[deepest];
    if (here < there || (here == there && particles.id[i] < particles.id[deepest])) deepest = i;
  }
  return static_cast<std::size_t>(particles.id[deepest]);
}

}  // namespace

std::size_t deepest_member(const Communicator& alone, std::span<const Vec3d> position,
                           std::span<const double> mass, double softening) {
  const bool has_mass = std::any_of(mass.begin(), mass.end(), [](double m) { return m > 0; });
  if (!has_mass) return 0;
  return position.size() < potential_by_tree ? deepest_by_sums(position, mass, softening)
                                             : deepest_by_tree(alone, position, mass, softening);
}

}  // namespace grove
