#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/leaf_targets.hpp"

namespace grove::cuda {

/// The balls of the own leaves. trees: after update_leaves(). least: Images::least_ball. balls (out, device):
/// trees.count.
void find_balls(const LeafTrees& trees, double unit_length, double least, Ball* balls);

/// Collects what is known of each own leaf. trees: after update_leaves(). told (device): what stands for
/// targets of the leaves, from whatever origins; null: they themselves. notices (out, device): trees.count.
void collect_notices(const LeafTrees& trees, const LeafTargets* told, double unit_length,
                     LeafNotice* notices);

/// Some own leaves, a range after the other, in device memory.
class LeafRanges {
 public:
  struct Range {
    std::uint32_t first, count;
    friend bool operator==(const Range&, const Range&) = default;
  };
  LeafRanges() = default;
  /// ranges: none empty.
  explicit LeafRanges(std::vector<Range> ranges);

  const std::vector<Range>& ranges() const { return ranges_; }
  std::uint32_t leaves() const { return leaves_; }

  /// The begin of a range: among those listed, and its first leaf.
  struct Place {
    std::uint32_t in_list, first;
  };
  std::span<const Place> places() const { return {places_.data(), places_.size()}; }  ///< device memory

 private:
  std::vector<Range> ranges_;
  std::uint32_t leaves_ = 0;
  DeviceArray<Place> places_;
};

/// The targets of some leaves. targets (out, device): by leaf, in their order.
void collect_targets(const LeafTrees& trees, const LeafTargets* told, const LeafRanges& leaves,
                     LeafTargets* targets);

/// The roots of leaves of other ranks as trees that have nothing else: pruned. core, moments, links, boxes
/// (out, device): of all leaves that are not own ones; boxes: nullptr: not wanted.
void place_roots(const KnownRoots& roots, NodeCore* core, NodeMoments* moments, NodeLinks* links,
                 NodeBox* boxes);

}  // namespace grove::cuda
