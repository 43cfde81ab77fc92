#include "gravity/gpu/device_audit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "comm/radix_select.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/gpu/device_far_images.hpp"
#include "gravity/leaf_sum.hpp"
#include "kernels/cuda/cuts/services/digit_counts.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/walk/leaf_forces.hpp"

namespace grove {
namespace {

/// Those elements of a field, in the memory of the host.
template <class T>
std::vector<T> pick(const DeviceParticles& particles, const Field<T>& field,
                    const cuda::DeviceArray<std::uint32_t>& index) {
  const cuda::DeviceArray<T> picked(index.size());
  cuda::gather_elements(picked.data(), {particles.values(field), particles.size(), nullptr}, index.data(),
                        index.size(), sizeof(T));
  std::vector<T> host(index.size());
  picked.download(host);
  return host;
}

std::vector<AuditedParticle> pick_all(const DeviceParticles& particles, std::span<const std::uint32_t> chosen,
                                      const GravityParameters& parameters) {
  if (chosen.empty()) return {};
  const cuda::DeviceArray<std::uint32_t> index{chosen};
  const auto position = pick(particles, fields::position, index);
  const auto type = pick(particles, fields::type, index);
  const auto id = pick(particles, fields::id, index);
  const auto acceleration = pick(particles, fields::acceleration, index);
  std::vector<Vec3f> of_gas(chosen.size(), Vec3f{0, 0, 0});  // which is not audited
  if (particles.has_gas()) of_gas = pick(particles, fields::hydro_acceleration, index);
  std::vector<AuditedParticle> own;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    own.push_back(
        {.target = {.position = position[i], .softening = parameters.softening[type[i]], .id = id[i]},
         .acceleration = acceleration[i].as<double>() - of_gas[i].as<double>(),
         .hash = mixed(id[i])});
  return own;
}

/// Targets as an image of the box sees them. None is left out of its sums: no particle has this id but by a
/// chance of 2^-64, and then one image of one particle is.
std::vector<DirectTarget> seen_from_image(std::span<const DirectTarget> targets, const Vec3d& shift) {
  std::vector<DirectTarget> seen(targets.begin(), targets.end());
  for (DirectTarget& target : seen) {
    target.position -= shift;
    target.id = ~ParticleId{0};
  }
  return seen;
}

}  // namespace

AuditResult audit(const Communicator& comm, const DeviceParticles& particles, const Domain& domain,
                  const GravityParameters& parameters, Count sample, const ExternalField& field,
                  int first_active) {
  sample = std::min(sample, comm.sum(static_cast<Count>(particles.size())));
  if (sample <= 0) return {};
  const ParticleId* const id = particles.values(fields::id);
  const cuda::ActiveIds ids{id, particles.values(fields::rung), first_active};
  const DigitCounter count_digits = [&](const DigitQuestion& question) {
    std::vector<Count> counts(static_cast<std::size_t>(question.digits()));
    cuda::count_digits(ids, particles.size(),
                       {question.prefix, question.high, question.low, question.is_window}, counts);
    return counts;
  };
  const std::uint64_t last = select_key(comm, 64, count_digits, sample - 1);
  const std::vector<std::uint32_t> chosen = cuda::find_hashes(ids, particles.size(), last);

  const cuda::LeafPieces pieces(domain.leaf_begin);
  const cuda::LeafForceSources sources{particles.values(fields::position), particles.values(fields::mass),
                                       particles.values(fields::type), id};
  const LeafForces of_leaves = [&](std::span<const DirectTarget> some, std::span<DirectForce> forces) {
    const cuda::DeviceArray<DirectForce> device_forces(forces.size());
    const auto of_image = [&](std::span<const DirectTarget> targets, std::span<DirectForce> result) {
      const cuda::DeviceArray<DirectTarget> device_targets{targets};
      cuda::sum_leaf_forces(parameters, sources, pieces, device_targets.data(), some.size(),
                            device_forces.data());
      device_forces.download(result);
    };
    of_image(some, forces);
    std::vector<DirectForce> more(forces.size());
    for (int image = 1; image < parameters.images.count(); ++image) {
      of_image(seen_from_image(some, parameters.images.shift(image)), more);
      for (std::size_t i = 0; i < more.size(); ++i) {
        forces[i].acceleration += more[i].acceleration;
        forces[i].potential += more[i].potential;
      }
    }
  };
  return compare(
      comm, pick_all(particles, chosen, parameters), field, [&](std::span<const DirectTarget> targets) {
        std::vector<DirectForce> forces = add_over_leaves(comm, parameters.gravitational_constant,
                                                          pieces.leaves, domain.leaves(), targets, of_leaves);
        if (!parameters.images.are_open()) {
          const FarUnits units(parameters);
          const double largest = cuda::largest_of(particles.values(fields::mass), particles.size()).get();
          const double bound = mass_bound(comm, largest, particles.size());
          add_far_images(box_moments<audit_far_moments>(comm, particles, domain.leaf_begin, units, bound),
                         units, targets, forces);
        }
        return forces;
      });
}

Totals compute_totals(const Communicator& comm, const DeviceParticles& particles, const Domain& domain,
                      const ExternalField& field) {
  const cuda::LeafPieces pieces(domain.leaf_begin);
  std::vector<Totals> leaves(pieces.leaves);
  const cuda::DeviceArray<Totals> totals(leaves.size());
  cuda::sum_leaves({particles.values(fields::mass), particles.values(fields::position),
                    particles.values(fields::velocity), particles.values(fields::potential),
                    particles.values(fields::type), particles.values(fields::internal_energy),
                    particles.values(fields::energy_rate), particles.values(fields::hydro_acceleration)},
                   field, pieces, totals.data());
  totals.download(leaves);
  return LeafSum<Totals>(comm, domain, leaves)();
}

}  // namespace grove
