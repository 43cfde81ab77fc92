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
  const NodeLinks* links;  ///< `child`, `next`: codes of the children; `first`, `count`: leaves below it
  std::uint32_t root;      ///< its code; of a leaf where there is no cell above
};

/// Owner of them.
class DeviceTop {
 public:
  DeviceTop() = default;
  /// top: of host memory. reference: of all frames. Throws std::length_error if there are too many cells.
  DeviceTop(const TopTree& top, const Vec3d& reference, const WalkUnits& units);

  TopSources view() const;

 private:
  DeviceArray<SourceFrame> frames_;
  DeviceArray<NodeCore> core_;
  DeviceArray<NodeMoments> moments_;
  DeviceArray<NodeLinks> links_;
  std::uint32_t root_ = 0;
};

}  // namespace grove::cuda
