#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/delegated_record.hpp"

namespace grove::cuda {

/// Makes records of delegated ones: record i has index i, its id goes to ids[i], its weight to weights[i].
/// All device; weights = nullptr: they are not needed. Cost: one pass.
void unpack_delegated(const DelegatedRecord* delegated, std::size_t count, const DeviceRecords& records,
                      ParticleId* ids, std::uint32_t* weights);

}  // namespace grove::cuda
