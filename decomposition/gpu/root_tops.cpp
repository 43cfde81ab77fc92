#include "decomposition/gpu/root_tops.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "decomposition/join_cells.hpp"

namespace grove {
std::vector<std::size_t> depths(std::span<const Cell> cells) {
  std::vector<std::size_t> depth(cells.size(), 0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(cells[c].child);
    depth[child] = depth[child + 1] = depth[c] + 1;
  }
  return depth;
}

std::vector<Segment> segments_of(const cuda::DescribedParts& parts, bool have_weights, int rank) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < parts.contents.size(); ++i) {
    const Count count = parts.begin[i + 1] - parts.begin[i];
    if (count == 0) continue;
    const auto& [bounds, first, weight] = parts.contents[i];
    segments.push_back({bounds.low, bounds.high, count, have_weights ? weight : count, {}, rank});
    std::copy_n(first, 3, segments.back().first);
  }
  return segments;
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
