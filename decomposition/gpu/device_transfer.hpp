#pragma once

#include <cstddef>

#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/leaf_transfer.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Collective. LeafTransfer::apply() to an array in device memory. values: before; moved (out): afterwards,
/// leaves.size() elements; element_size: bytes. Device memory on top: what leaves and what arrives. Cost:
/// what stays is copied.
void transfer(const DeviceExchange& exchange, const LeafTransfer& leaves, const void* values, void* moved,
              std::size_t element_size);

/// Collective. The same with all fields, several at once (column_groups.hpp).
void transfer(const Communicator& comm, const DeviceExchange& exchange, const LeafTransfer& leaves,
              DeviceParticles& particles);

}  // namespace grove
