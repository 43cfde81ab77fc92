#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/domain.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// check_domain() and tree_hash() of particles on GPUs, which are counted there. Collective.
struct DeviceCheck {
  std::string fault;  ///< empty: nothing is wrong
  std::uint64_t tree_hash;
};
DeviceCheck check_on_device(const Communicator& comm, const DeviceParticles& particles,
                            const DecompositionParameters& parameters, const Domain& domain);

}  // namespace grove
