#include "kernels/cuda/cuts/services/axis_counts.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cuda/cuts/partition/cell_counts.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

struct AxisCounts::Impl {
  std::span<Coordinate> axis;
  Pinned pinned;
  DeviceArray<Coordinate> on_device;
};

AxisCounts::AxisCounts(std::span<Coordinate> axis)
    : impl_(new Impl{axis, Pinned(axis.data(), axis.size_bytes()), DeviceArray<Coordinate>(axis.size())}) {}

AxisCounts::~AxisCounts() = default;

void AxisCounts::upload(const Part& part) {
  device_upload(impl_->on_device.data() + part.first, &impl_->axis[part.first],
                part.count * sizeof(Coordinate));
}

void AxisCounts::count_left(std::span<const Part> parts, std::span<const CandidateCuts> cuts,
                            bool one_launch_per_cell, std::span<Tally> answer) const {
  // Some records more than a block of the search reads: there are no bins to clear.
  Tiles tiles(std::uint64_t{1} << 16);
  PassMemory memory;
  for (std::size_t begin = 0; begin < cuts.size();) {
    const std::size_t size = one_launch_per_cell ? 1 : cuts.size() - begin;
    std::vector<AxisSegment> axes;
    std::vector<std::uint64_t> counts;
    std::size_t answers = 0;
    for (std::size_t i = begin; i < begin + size; ++i) {
      axes.push_back({impl_->on_device.data(), nullptr, parts[i].first, parts[i].count});
      counts.push_back(parts[i].count);
      answers += static_cast<std::size_t>(cuts[i].candidates);
    }
    tiles.make(counts);
    count_candidates(memory, axes, cuts.subspan(begin, size), tiles, nullptr, answer.first(answers));
    answer = answer.subspan(answers);
    begin += size;
  }
}

}  // namespace grove::cuda
