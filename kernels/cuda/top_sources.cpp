#include "kernels/cuda/top_sources.hpp"

#include <stdexcept>
#include <vector>

#include "kernels/cuda/node_code.hpp"

namespace grove::cuda {
namespace {

std::uint32_t code_of_cell(const TopTree& top, std::int32_t cell) {
  const TopLinks& links = top.links[cell];
  return links.child < 0 ? code_of(links.first_leaf, 0) : top_code_of(cell);
}

/// Siblings of the cells on the way from the root to each leaf.
struct Beginnings {
  const TopTree& top;
  std::vector<std::uint32_t> codes, first, way;

  /// Of the leaves below a cell, in their order; `way` are those of the cell.
  void add(std::int32_t cell) {
    const std::int32_t child = top.links[cell].child;
    if (child < 0) {
      first.push_back(static_cast<std::uint32_t>(codes.size()));
      codes.insert(codes.end(), way.begin(), way.end());
      return;
    }
    for (const std::int32_t side : {0, 1}) {
      way.push_back(code_of_cell(top, child + 1 - side));
      add(child + side);
      way.pop_back();
    }
  }
};

}  // namespace

DeviceTop::DeviceTop(const TopTree& top, const Vec3d& reference, const WalkUnits& units) {
  if (static_cast<std::uint32_t>(top.nodes) > most_frames) throw std::length_error("walk: too many leaves");
  const auto cells = static_cast<std::size_t>(top.nodes);
  std::vector<SourceFrame> frames;
  std::vector<NodeCore> core(top.core, top.core + cells);
  std::vector<NodeLinks> links(cells);
  for (std::int32_t cell = 0; cell < top.nodes; ++cell) {
    frames.push_back(
        SourceFrame::at(top.centre[cell], reference, 1 / units.length, static_cast<std::uint32_t>(cell), 0));
    const auto c = static_cast<std::size_t>(cell);
    core[c].centre = {0, 0, 0};
    const TopLinks& link = top.links[cell];
    if (link.child < 0) continue;
    links[c] = {static_cast<std::int32_t>(code_of_cell(top, link.child)),
                static_cast<std::int32_t>(code_of_cell(top, link.child + 1)), 0, 0};
  }
  frames_ = DeviceArray<SourceFrame>{std::span<const SourceFrame>(frames)};
  core_ = DeviceArray<NodeCore>{std::span<const NodeCore>(core)};
  moments_ = DeviceArray<NodeMoments>{std::span(top.moments, cells)};
  links_ = DeviceArray<NodeLinks>{std::span<const NodeLinks>(links)};
  Beginnings beginnings{top, {}, {}, {}};
  beginnings.add(0);
  beginnings.first.push_back(static_cast<std::uint32_t>(beginnings.codes.size()));
  beginnings_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(beginnings.codes)};
  first_beginning_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(beginnings.first)};
}

TopSources DeviceTop::view() const {
  return {frames_.data(), core_.data(),       moments_.data(),
          links_.data(),  beginnings_.data(), first_beginning_.data()};
}

}  // namespace grove::cuda
