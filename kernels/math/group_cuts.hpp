#pragma once

#include "base/host_device.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// The groups of a leaf whose buckets end wherever a group is full: runs of group_size particles.
GROVE_HOST_DEVICE constexpr std::int32_t full_groups(std::int32_t count) {
  return (count + group_size - 1) / group_size;
}

/// The rule by which the bisections of leaves cut, on the host and on GPUs: near the spatial middle of the
/// longest side, at multiples of a group, and inside of groups of a bucket. A rule of another kind has the
/// same members; the searches for a cut know nothing else about it.
struct GroupCuts {
  std::int32_t targets_per_warp = group_size;  ///< larger cells are cut at multiples of this first

  /// True if a cell of so many particles is not cut.
  GROVE_HOST_DEVICE constexpr bool is_bucket(std::int32_t count) const { return count <= bucket_size; }
  /// The axis that a cell of these tight bounds is cut on.
  GROVE_HOST_DEVICE constexpr int axis(const IntegerPosition& low, const IntegerPosition& high) const {
    return longest_axis(low, high);
  }
  /// The coordinate near which it is cut. low, high: its bounds on that axis.
  GROVE_HOST_DEVICE constexpr Coordinate middle(Coordinate low, Coordinate high) const {
    return middle_in_leaf(low, high);
  }
  /// How many of its particles go left. left_of_middle: those whose coordinate is less than middle().
  GROVE_HOST_DEVICE constexpr Count left_count(Count count, Count left_of_middle) const {
    const std::int32_t quantum = count > targets_per_warp ? targets_per_warp
                                 : count > group_size     ? group_size
                                                          : bucket_size;
    return middle_left_count(count, left_of_middle, quantum);
  }
  /// The cells that it is cut into, itself among them.
  GROVE_HOST_DEVICE constexpr std::int32_t cells(std::int32_t count) const { return local_cells(count); }
};

}  // namespace grove
