#include "decomposition/gpu/root_tops.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "decomposition/join_cells.hpp"
#include "kernels/cuda/cuts/partition/record_segments.hpp"
#include "kernels/cuda/cuts/services/places.hpp"

namespace grove {
namespace {

/// The records of each root that are in one part. part_begin: where those of each part begin, and their end.
std::vector<cuda::Segment> pieces_of(std::span<const cuda::SubtreeRoot> roots,
                                     std::span<const Count> part_begin) {
  std::vector<cuda::Segment> pieces;
  std::size_t part = 0;
  for (const cuda::SubtreeRoot& root : roots) {
    const std::uint64_t end = root.first + static_cast<std::uint64_t>(root.cell.count);
    for (std::uint64_t begin = root.first; begin < end; begin += pieces.back().count) {
      while (static_cast<std::uint64_t>(part_begin[part + 1]) <= begin) ++part;
      pieces.push_back({begin, std::min(end, static_cast<std::uint64_t>(part_begin[part + 1])) - begin});
    }
  }
  return pieces;
}

}  // namespace

std::vector<std::size_t> depths(std::span<const Cell> cells) {
  std::vector<std::size_t> depth(cells.size(), 0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(cells[c].child);
    depth[child] = depth[child + 1] = depth[c] + 1;
  }
  return depth;
}

std::vector<Segment> describe(const cuda::DeviceRecords& records, const ParticleId* ids,
                              const std::uint32_t* weights, std::span<const cuda::Segment> segments,
                              int rank) {
  const std::vector<cuda::SegmentContent> contents = cuda::describe_segments(records, ids, weights, segments);
  std::vector<Segment> result;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& [bounds, first, weight] = contents[i];
    const auto count = static_cast<Count>(segments[i].count);
    result.push_back({bounds.low, bounds.high, count, weights ? weight : count, {}, rank});
    std::copy_n(first, 3, result.back().first);
  }
  return result;
}

std::vector<Segment> sort_and_describe(std::span<const cuda::SubtreeRoot> roots,
                                       std::span<const IntegerPosition> begins, cuda::DeviceRecords& records,
                                       cuda::DeviceRecords& spare, const ParticleId* ids) {
  std::vector<std::uint32_t> number(begins.size());
  std::iota(number.begin(), number.end(), 0U);
  const std::vector<Count> part_begin =
      cuda::sort_by_part(records, spare, begins, number, static_cast<std::uint32_t>(begins.size()));
  return describe(records, ids, nullptr, pieces_of(roots, part_begin), 0);
}

RootTops::RootTops(const CutScheme& scheme, std::span<const cuda::SubtreeRoot> roots,
                   std::span<const Segment> segments) {
  std::optional<std::size_t> least;
  auto next = segments.begin();
  for (const cuda::SubtreeRoot& root : roots) {
    const auto first = next;
    for (Count rest = root.cell.count; rest > 0; ++next) {
      if (next == segments.end()) throw std::logic_error("segments of fewer records than there are");
      rest -= next->count;
    }
    TopOfSegments top = top_of({first, next}, scheme, 0, 1);
    const std::vector<std::size_t> depth = depths(top.cells);
    for (std::size_t i = 0; i < top.frontier.size(); ++i) {
      const auto index = static_cast<std::size_t>(top.frontier.cell(i));
      least = std::min(depth[index], least.value_or(depth[index]));
      cuda::SubtreeRoot part{top.cells[index], root.first};
      part.first += static_cast<std::uint64_t>(part.cell.first);
      part.cell.first += root.cell.first;
      parts_.push_back(part);
    }
    for (Cell& cell : top.cells) cell.first += root.cell.first;
    tops_.push_back({std::move(top.cells), top.frontier.uncut(), top.frontier.size()});
  }
  least_levels_ = least.value_or(0);
}

std::vector<std::vector<Cell>> RootTops::join(std::span<const std::vector<Cell>> subtrees) const {
  std::vector<std::vector<Cell>> joined;
  auto next = subtrees.begin();
  for (const Top& top : tops_) {
    std::vector<Cell> below;
    for (std::size_t i = 0; i < top.parts; ++i, ++next)
      if (next->front().leaves > 1) below.insert(below.end(), next->begin(), next->end());
    joined.push_back(join_cells(top.cells, top.uncut, below));
  }
  return joined;
}

}  // namespace grove
