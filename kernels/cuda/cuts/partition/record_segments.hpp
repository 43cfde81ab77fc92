#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cell_questions.hpp"

/// Passes over neighbouring records, many segments in one launch. Spans are the host's.
namespace grove::cuda {

struct Segment {
  std::uint64_t first, count;
};

/// Tight bounds of the records of each segment. Cost: one pass over three columns.
void find_bounds(const DeviceRecords& records, std::span<const Segment> segments,
                 std::span<CellBounds> bounds);

/// The weight of the records of each segment. weights: device, by record index. Cost: one pass over an index
/// and what it points to.
void sum_weights(const DeviceRecords& records, const std::uint32_t* weights,
                 std::span<const Segment> segments, std::span<Count> weight);

/// The records of a segment, all told.
struct SegmentContent {
  CellBounds bounds;    ///< tight
  ParticleId first[3];  ///< by axis: the least id of those with the least coordinate
  Count weight;         ///< 0 without weights
};
/// ids, weights (optional): device, by record index. Cost: two passes over three columns, one over the index
/// and the weights; one wait of the host.
std::vector<SegmentContent> describe_segments(const DeviceRecords& records, const ParticleId* ids,
                                              const std::uint32_t* weights,
                                              std::span<const Segment> segments);

/// Records that are to be copied elsewhere.
struct SegmentCopy {
  std::uint64_t from, count, to;
};
/// Cost: all of them are read and written once.
void copy_segments(const DeviceRecords& from, const DeviceRecords& to, std::span<const SegmentCopy> copies);

}  // namespace grove::cuda
