#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/part_work.hpp"
#include "kernels/math/place_sample.hpp"

/// Records go where they belong: to parts of the root cube that follow each other in Morton's order.
namespace grove::cuda {

/// Sorts records by the number of their part. begin: of the parts, ascending (comes_before()), the first one
/// at 0; number: of each, below `numbers`, the same for several if they are to lie together. records
/// (in/out); spare (in/out): as many, overwritten. Returns where the records of each number begin, and their
/// end. Their order within one stays. Cost: a search in the parts for each record, a radix sort by the bits
/// of the numbers, and all is moved once; device memory: 4 bytes per record.
std::vector<Count> sort_by_part(DeviceRecords& records, DeviceRecords& spare,
                                std::span<const IntegerPosition> begin, std::span<const std::uint32_t> number,
                                std::uint32_t numbers);

/// Some records, in any order. ids, rungs: device, by record index; no rungs: all are 0; deepest: rung of all
/// particles. Cost: a pass over ids and rungs; a wait of the host, a second one if there are more than 4096.
std::vector<PlaceSample> sample_records(const DeviceRecords& records, const ParticleId* ids,
                                        const std::uint8_t* rungs, const SampleRates& rates, int deepest);

/// The records in each part; begin: as above. weights, rungs: device, by record index; no weights: each
/// weighs 1; no rungs: all are 0. deepest: of all particles. Cost: a search in the parts for each record, and
/// a sum for each rung of a warp's.
std::vector<PartWork> weigh_parts(const DeviceRecords& records, const std::uint32_t* weights,
                                  const std::uint8_t* rungs, std::span<const IntegerPosition> begin,
                                  int deepest);

}  // namespace grove::cuda
