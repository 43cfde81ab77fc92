#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/math/mass_assignment.hpp"

namespace grove::cuda {

/// spread_mass() of many particles. particles (device): [count]; sums (device, in and out): the points of
/// these planes. Integers, so the order of threads does not matter. Cost: an atomic addition for each point
/// of a cloud.
void deposit_mass(const MassPoint* particles, std::size_t count, const MassMesh& mesh, double offset,
                  const MeshPlanes& planes, std::int64_t* sums);

/// density[i] = sums[i] factor, of count points; both on the device.
void make_densities(const std::int64_t* sums, double factor, std::size_t count, double* density);

}  // namespace grove::cuda
