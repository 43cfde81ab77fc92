#pragma once

#include <cstddef>
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

/// Records that are to be copied elsewhere.
struct SegmentCopy {
  std::uint64_t from, count, to;
};
/// Cost: all of them are read and written once.
void copy_segments(const DeviceRecords& from, const DeviceRecords& to, std::span<const SegmentCopy> copies);
/// `count` records, of segments of two arrays, which are freed. Device memory: one column, a quarter of them,
/// on top of the two. Cost: as above, in eight launches.
DeviceRecords merge_segments(DeviceRecords first, std::span<const SegmentCopy> of_first, DeviceRecords second,
                             std::span<const SegmentCopy> of_second, std::size_t count);

}  // namespace grove::cuda
