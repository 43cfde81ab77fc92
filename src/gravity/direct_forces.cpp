#include "gravity/direct_forces.hpp"

#include <algorithm>
#include <cstddef>

#include "comm/exact_sum.hpp"

namespace grove {
namespace {

/// Targets whose sums per leaf are kept at a time.
constexpr std::size_t batch = 64;
/// Numbers in a DirectForce.
constexpr std::size_t components = 4;

}  // namespace

std::vector<DirectForce> add_over_leaves(const Communicator& comm, double gravitational_constant,
                                         std::size_t own_leaves, Count all_leaves,
                                         std::span<const DirectTarget> targets,
                                         const LeafForces& forces_of_leaves) {
  const double g = gravitational_constant;
  std::vector<DirectForce> result;
  for (std::size_t first = 0; first < targets.size(); first += batch) {
    const auto some = targets.subspan(first, std::min(batch, targets.size() - first));
    std::vector<DirectForce> forces(own_leaves * some.size());
    forces_of_leaves(some, forces);
    std::vector<double> terms;  // a row per own leaf
    terms.reserve(components * forces.size());
    for (const DirectForce& f : forces)
      terms.insert(terms.end(), {f.acceleration.x, f.acceleration.y, f.acceleration.z, f.potential});
    const std::vector<double> sums = exact_sums(comm, terms, components * some.size(), all_leaves);
    for (std::size_t i = 0; i < sums.size(); i += components)
      result.push_back({{g * sums[i], g * sums[i + 1], g * sums[i + 2]}, g * sums[i + 3]});
  }
  return result;
}

std::vector<DirectForce> direct_forces(const Communicator& comm, const Particles& particles,
                                       const Domain& domain, const GravityParameters& parameters,
                                       std::span<const DirectTarget> targets) {
  std::vector<double> softening(particles.size());
  std::transform(particles.type.begin(), particles.type.end(), softening.begin(),
                 [&](std::uint8_t type) { return parameters.softening[type]; });
  const std::size_t leaves = domain.leaf_begin.empty() ? 0 : domain.leaf_begin.size() - 1;
  const LeafForces of_leaves = [&](std::span<const DirectTarget> some, std::span<DirectForce> forces) {
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      const auto begin = static_cast<std::size_t>(domain.leaf_begin[leaf]);
      const auto end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
      const DirectSources sources{.position = particles.position.data() + begin,
                                  .mass = particles.mass.data() + begin,
                                  .softening = softening.data() + begin,
                                  .id = particles.id.data() + begin,
                                  .count = end - begin};
      direct_sum(parameters.kernel, sources, some, forces.subspan(leaf * some.size(), some.size()),
                 parameters.images);
    }
  };
  return add_over_leaves(comm, parameters.gravitational_constant, leaves, domain.leaves(), targets,
                         of_leaves);
}

void evaluate_directly(const Communicator& comm, Particles& particles, const Domain& domain,
                       const GravityParameters& parameters, int first_active) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles.rung[i] >= first_active) active.push_back(i);
  std::vector<DirectTarget> own;
  for (const std::size_t i : active)
    own.push_back({particles.position[i], parameters.softening[particles.type[i]], particles.id[i]});
  const auto all = comm.all_gather_arrays(std::span<const DirectTarget>(own));
  const auto first = static_cast<std::size_t>(comm.exclusive_scan(static_cast<std::int64_t>(own.size())));
  const Count sources = comm.sum(static_cast<Count>(particles.size()));
  const auto work = static_cast<std::uint32_t>(std::min<Count>(sources, most_work));
  const std::vector<DirectForce> forces = direct_forces(comm, particles, domain, parameters, all);
  for (std::size_t k = 0; k < active.size(); ++k) {
    const std::size_t i = active[k];
    particles.acceleration[i] = forces[first + k].acceleration.as<float>();
    particles.potential[i] = static_cast<float>(forces[first + k].potential);
    particles.work[i] = work;
  }
}

}  // namespace grove
