#pragma once

#include <span>

#include "comm/communicator.hpp"
#include "gravity/far_images.hpp"
#include "particles/gpu/device_particles.hpp"

/// The far images of a periodic box for particles on GPUs: what far_images.hpp is on the host.
namespace grove {

/// As on the host. Orders: far_moments, audit_far_moments.
template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const DeviceParticles& particles,
                              std::span<const Count> leaf_begin, const FarUnits& units, double bound);

/// Adds what they do to the particles on these rungs.
void add_far_images(const FarField<far_order>& field, const FarUnits& units, const DeviceParticles& particles,
                    int first_active);

}  // namespace grove
