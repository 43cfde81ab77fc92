#include "gravity/far_images.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gravity/leaf_multipoles.hpp"
#include "kernels/kokkos/host_loop.hpp"

namespace grove {

template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const Particles& particles,
                              std::span<const Count> leaf_begin, const FarUnits& units, double bound) {
  std::vector<BoxMoments<order>> leaves(leaf_begin.empty() ? 0 : leaf_begin.size() - 1);
  host_loop("Grove::gravity::box moments", leaves.size(), [&](std::size_t leaf) {
    leaves[leaf] = moments_of<order>(particles, static_cast<std::size_t>(leaf_begin[leaf]),
                                     static_cast<std::size_t>(leaf_begin[leaf + 1]),
                                     [&](const Vec3d& p) { return units.place(p); });
  });
  const double per_mass = WholeMoments<order>::per_mass(bound);
  WholeMoments<order> all;
  for (const BoxMoments<order>& leaf : leaves) all.add(leaf, per_mass);
  comm.sum(std::span<std::int64_t>(all.of));
  return all.moments(per_mass);
}

template BoxMoments<far_moments> box_moments(const Communicator&, const Particles&, std::span<const Count>,
                                             const FarUnits&, double);
template BoxMoments<audit_far_moments> box_moments(const Communicator&, const Particles&,
                                                   std::span<const Count>, const FarUnits&, double);

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
