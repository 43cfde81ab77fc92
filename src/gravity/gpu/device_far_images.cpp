#include "gravity/gpu/device_far_images.hpp"

#include <cstdint>
#include <span>

#include "kernels/cuda/particles/periodic.hpp"

namespace grove {

template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const DeviceParticles& particles,
                              std::span<const Count> leaf_begin, const FarUnits& units, double bound) {
  const double per_mass = WholeMoments<order>::per_mass(bound);
  WholeMoments<order> all =
      cuda::sum_box_moments<order>(units, particles.values(fields::position), particles.values(fields::mass),
                                   cuda::LeafPieces(leaf_begin), per_mass);
  comm.sum(std::span<std::int64_t>(all.of));
  return all.moments(per_mass);
}

template BoxMoments<far_moments> box_moments(const Communicator&, const DeviceParticles&,
                                             std::span<const Count>, const FarUnits&, double);
template BoxMoments<audit_far_moments> box_moments(const Communicator&, const DeviceParticles&,
                                                   std::span<const Count>, const FarUnits&, double);

void add_far_images(const FarField<far_order>& field, const FarUnits& units, const DeviceParticles& particles,
                    int first_active) {
  cuda::add_far_images(units, field, particles.size(), particles.values(fields::rung), first_active,
                       particles.values(fields::position), particles.values(fields::acceleration),
                       particles.values(fields::potential));
}

}  // namespace grove
