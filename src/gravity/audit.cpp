#include "gravity/audit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "comm/radix_select.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/far_images.hpp"

namespace grove {
namespace {

AuditedError error_of(const AuditedParticle& particle, const Vec3d& exact) {
  const double difference = norm(particle.acceleration - exact), size = norm(exact);
  return {particle.target.id, particle.target.position, size, difference == 0 ? 0 : difference / size};
}

/// Without what gas does to itself.
Vec3d gravity_of(const Particles& particles, std::size_t i) {
  const Vec3d all = particles.acceleration[i].as<double>();
  return particles.has_gas ? all - particles.hydro_acceleration[i].as<double>() : all;
}

}  // namespace

AuditResult compare(const Communicator& comm, std::span<const AuditedParticle> own,
                    const ExternalField& field,
                    const std::function<std::vector<DirectForce>(std::span<const DirectTarget>)>& direct) {
  auto chosen = comm.all_gather_arrays(own);
  if (chosen.empty()) return {};
  std::sort(chosen.begin(), chosen.end(),
            [](const AuditedParticle& a, const AuditedParticle& b) { return a.hash < b.hash; });
  std::vector<DirectTarget> targets(chosen.size());
  std::transform(chosen.begin(), chosen.end(), targets.begin(),
                 [](const AuditedParticle& s) { return s.target; });
  const std::vector<DirectForce> exact = direct(targets);

  std::vector<AuditedError> errors;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    errors.push_back(error_of(chosen[i], exact[i].acceleration + field.at(targets[i].position).acceleration));
  std::stable_sort(errors.begin(), errors.end(),
                   [](const AuditedError& a, const AuditedError& b) { return a.error < b.error; });
  const std::size_t n = errors.size();
  return {.median = errors[(n - 1) / 2].error,
          .p99 = errors[(99 * n + 99) / 100 - 1].error,
          .max = errors.back().error,
          .sample = static_cast<Count>(n),
          .errors = std::move(errors)};
}

AuditResult audit(const Communicator& comm, const Particles& particles, const Domain& domain,
                  const GravityParameters& parameters, Count sample, const ExternalField& field,
                  int first_active) {
  sample = std::min(sample, comm.sum(static_cast<Count>(particles.size())));
  if (sample <= 0) return {};
  const auto is_active = [&](std::size_t i) { return particles.rung[i] >= first_active; };
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (is_active(i)) hashes.push_back(mixed(particles.id[i]));
  const std::uint64_t last = select_key(comm, std::span<const std::uint64_t>(hashes), sample - 1);

  std::vector<AuditedParticle> own;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (is_active(i) && mixed(particles.id[i]) <= last)
      own.push_back({.target = {.position = particles.position[i],
                                .softening = parameters.softening[particles.type[i]],
                                .id = particles.id[i]},
                     .acceleration = gravity_of(particles, i),
                     .hash = mixed(particles.id[i])});
  return compare(comm, own, field, [&](std::span<const DirectTarget> targets) {
    std::vector<DirectForce> forces = direct_forces(comm, particles, domain, parameters, targets);
    if (!parameters.images.are_open()) {
      const FarUnits units(parameters);
      const double largest = particles.mass.empty() ? 0 : *std::ranges::max_element(particles.mass);
      const double bound = mass_bound(comm, largest, particles.size());
      add_far_images(box_moments<audit_far_moments>(comm, particles, domain.leaf_begin, units, bound), units,
                     targets, forces);
    }
    return forces;
  });
}

}  // namespace grove
