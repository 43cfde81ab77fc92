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
                static_cast<std::int32_t>(code_of_cell(top, link.child + 1)), link.first_leaf, link.leaves};
  }
  frames_ = DeviceArray<SourceFrame>{std::span<const SourceFrame>(frames)};
  core_ = DeviceArray<NodeCore>{std::span<const NodeCore>(core)};
  moments_ = DeviceArray<NodeMoments>{std::span(top.moments, cells)};
  links_ = DeviceArray<NodeLinks>{std::span<const NodeLinks>(links)};
  root_ = code_of_cell(top, 0);
}

TopSources DeviceTop::view() const {
  return {frames_.data(), core_.data(), moments_.data(), links_.data(), root_};
}

}  // namespace grove::cuda
