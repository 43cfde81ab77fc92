#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/part_work.hpp"
#include "kernels/math/place_sample.hpp"

/// Records go where they belong: to parts of the root cube that follow each other in Morton's order.
namespace grove::cuda {

/// The beginnings of the records of so many parts, and their end: device, one more than there are parts.
struct PartBegins {
  const Count* begin;
  std::uint32_t parts;
};

/// Sorts records by the number of their part. begin: of the parts, ascending (comes_before()), the first one
/// at 0; number: of each, below `numbers`, the same for several if they are to lie together. records
/// (in/out); spare (in/out): as many, overwritten. Returns the beginnings of the numbers
/// (PartBegins). Their order within one stays. Cost: a search in the parts for each record, a radix sort by
/// the bits of the numbers, and all is moved once; device memory: 4 bytes per record; no wait of the host.
DeviceArray<Count> sort_by_part(DeviceRecords& records, DeviceRecords& spare,
                                std::span<const IntegerPosition> begin, std::span<const std::uint32_t> number,
                                std::uint32_t numbers);

/// Puts two sets of records together that are sorted by the same parts: in each part those of the first set,
/// then those of the second one. first, second: begins of these. joined (out): room for all records of the
/// parts. Returns where the joined ones begin. Cost: all are read and written once; no wait of the host.
DeviceArray<Count> join_parts(const DeviceRecords& of_first, const PartBegins& first,
                              const DeviceRecords& of_second, const Count* second_begin,
                              const DeviceRecords& joined);

/// The records of a part, all told.
struct PartContent {
  CellBounds bounds;    ///< tight; of nothing if there are none
  ParticleId first[3];  ///< by axis: the least id of those with the least coordinate
  Count weight;         ///< 0 without weights
};
struct DescribedParts {
  std::vector<Count> begin;  ///< of each, and their end
  std::vector<PartContent> contents;
};
/// ids, weights (optional): device, by record index. Cost: two passes over three columns, one over the index
/// and the weights; one wait of the host.
DescribedParts describe_parts(const DeviceRecords& records, const ParticleId* ids,
                              const std::uint32_t* weights, const PartBegins& parts);

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
