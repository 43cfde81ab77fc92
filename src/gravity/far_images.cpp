#include "gravity/far_images.hpp"

#include <cstddef>
#include <vector>

#include "kernels/kokkos/host_loop.hpp"

namespace grove {

template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const Particles& particles, const Domain& domain,
                              const FarUnits& units) {
  std::vector<BoxMoments<order>> leaves(domain.leaf_begin.empty() ? 0 : domain.leaf_begin.size() - 1);
  host_loop("Grove::gravity::box moments", leaves.size(), [&](std::size_t leaf) {
    const auto end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
    for (auto i = static_cast<std::size_t>(domain.leaf_begin[leaf]); i < end; ++i)
      leaves[leaf].add(particles.mass[i], units.place(particles.position[i]));
  });
  return united_moments<order>(comm, domain, leaves);
}

template BoxMoments<far_moments> box_moments(const Communicator&, const Particles&, const Domain&,
                                             const FarUnits&);
template BoxMoments<audit_far_moments> box_moments(const Communicator&, const Particles&, const Domain&,
                                                   const FarUnits&);

void add_far_images(const FarField<far_order>& field, const FarUnits& units, Particles& particles,
                    int first_active) {
  host_loop("Grove::gravity::far images", particles.size(), [&](std::size_t i) {
    if (particles.rung[i] < first_active) return;
    const DirectForce far = units.force(field, particles.position[i]);
    particles.acceleration[i] = (particles.acceleration[i].as<double>() + far.acceleration).as<float>();
    particles.potential[i] = static_cast<float>(particles.potential[i] + far.potential);
  });
}

void add_far_images(const BoxMoments<audit_far_moments>& box, const FarUnits& units,
                    std::span<const DirectTarget> targets, std::span<DirectForce> forces) {
  const auto field = far_field(box);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const DirectForce far = units.force(field, targets[i].position);
    forces[i].acceleration += far.acceleration;
    forces[i].potential += far.potential;
  }
}

}  // namespace grove
