#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/lent_record.hpp"

namespace grove::cuda {

/// Makes records of lent ones: record i has index i, its id goes to ids[i], its weight to weights[i]. All
/// device; weights = nullptr: they are not needed. Cost: one pass.
void unpack_lent(const LentRecord* lent, std::size_t count, const DeviceRecords& records, ParticleId* ids,
                 std::uint32_t* weights);

}  // namespace grove::cuda
