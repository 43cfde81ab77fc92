#pragma once

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "gravity/far_images.hpp"
#include "particles/gpu/device_particles.hpp"

/// The far images of a periodic box for particles on GPUs: what far_images.hpp is on the host.
namespace grove {

/// The same bits on any number of ranks. Collective. Orders: far_moments, audit_far_moments.
template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const DeviceParticles& particles,
                              const Domain& domain, const FarUnits& units);

/// Adds what they do to the particles on these rungs.
void add_far_images(const FarField<far_order>& field, const FarUnits& units, const DeviceParticles& particles,
                    int first_active);

}  // namespace grove
