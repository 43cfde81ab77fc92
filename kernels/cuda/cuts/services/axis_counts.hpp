#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/types.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove::cuda {

/// Counts on the GPU what the host has lined up on axes: the published scheme, in which only the axis of the
/// next cut is copied to the device.
class AxisCounts {
 public:
  /// axis: the host's, where coordinates of cells are lined up; it is pinned, and must outlive this.
  explicit AxisCounts(std::span<Coordinate> axis);
  ~AxisCounts();

  struct Part {
    std::uint64_t first, count;
  };
  /// Brings part of the axis to the device.
  void upload(const Part& part);

  /// parts: where the cells of the questions are. answer: the candidates of all questions, one after the
  /// other. one_launch_per_cell: or one for all.
  void count_left(std::span<const Part> parts, std::span<const CandidateCuts> cuts, bool one_launch_per_cell,
                  std::span<Tally> answer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
