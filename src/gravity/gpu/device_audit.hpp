#pragma once

#include "gravity/audit.hpp"
#include "gravity/totals.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// grove::audit() and compute_totals() of particles on GPUs. Every bit of the results is the same for any
/// number of ranks; beside the host's they differ by rounding.
AuditResult audit(const Communicator& comm, const DeviceParticles& particles, const Domain& domain,
                  const GravityParameters& parameters, Count sample, const ExternalField& field = {},
                  int first_active = 0);
/// field: in device memory.
Totals compute_totals(const Communicator& comm, const DeviceParticles& particles, const Domain& domain,
                      const ExternalField& field);

}  // namespace grove
