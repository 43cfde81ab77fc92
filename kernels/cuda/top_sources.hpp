#pragma once

#include "kernels/cuda/device.hpp"
#include "kernels/math/frame.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove::cuda {

/// The cells of the ORB above its leaves as nodes like those of the leaves: each is the only node of a frame
/// whose origin is its centre of mass. Device memory, walk units.
struct TopSources {
  const SourceFrame* frames;  ///< [cells], and the next likewise
  const NodeCore* core;
  const NodeMoments* moments;
  const NodeLinks* links;  ///< `child`, `next`: codes of the children

  /// Codes of what walks from a leaf begin with: whatever holds the leaf would be opened, which leaves the
  /// sibling of each. Some 100 at most: cuts halve the 32 bits of an axis, or the particles at one place.
  const std::uint32_t* beginnings;
  const std::uint32_t* first_beginning;  ///< [leaves + 1]
};

/// Owner of them.
class DeviceTop {
 public:
  DeviceTop() = default;
  /// top: of host memory. reference: of all frames. Throws std::length_error if there are too many cells.
  /// Cost: O(leaves x depth).
  DeviceTop(const TopTree& top, const Vec3d& reference, const WalkUnits& units);

  TopSources view() const;

 private:
  DeviceArray<SourceFrame> frames_;
  DeviceArray<NodeCore> core_;
  DeviceArray<NodeMoments> moments_;
  DeviceArray<NodeLinks> links_;
  DeviceArray<std::uint32_t> beginnings_, first_beginning_;
};

}  // namespace grove::cuda
