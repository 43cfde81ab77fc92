#pragma once

#include <cstdint>
#include <span>

#include "base/box.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/node_code.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/frame.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/walk_views.hpp"
#include "kernels/math/wanted.hpp"

namespace grove::cuda {

/// Nodes with their frames; device memory, walk units.
struct NodeArrays {
  const SourceFrame* frames = nullptr;
  const NodeCore* core = nullptr;  ///< [nodes], and the next likewise
  const NodeMoments* moments = nullptr;
  const NodeLinks* links = nullptr;
};

/// The cells of the ORB above its leaves as nodes like those of the leaves: each is the only node of a frame
/// whose origin is its centre of mass. `child` and `next` of their links are the codes of the children.
/// In a periodic box there are all of them once for each image, with frames of their own and codes that lead
/// to leaves of that image: so a walk that begins with the roots of the images, too, goes through them as it
/// goes through all else. Device memory.
struct TopSources {
  NodeArrays cells;

  /// Codes of what walks from a leaf begin with: whatever holds the leaf would be opened, which leaves the
  /// sibling of each. Some 100 at most: cuts halve the 32 bits of an axis, or the particles at one place.
  const std::uint32_t* beginnings;
  const std::uint32_t* first_beginning;  ///< [leaves + 1]
  NodeCodes codes;
  const NodeBox* boxes;  ///< [cells] where the criterion needs them, else null
};

/// The data of the cells that the selection of trees for other ranks needs. Device memory.
struct TopCells {
  const TopLinks* links;           ///< [cells]; the root is the first
  const std::uint32_t* leaf_cell;  ///< [leaves] the cell that is the leaf
  const Vec3d* centre;             ///< [cells] of mass, units of the run
  const NodeCore* core;            ///< [cells] `centre` there is not used
  const Wanted* wanted;            ///< [cells]
};

/// The tree over the leaves of the ORB, the same on every rank: what TopMoments is on the host.
class DeviceTop {
 public:
  DeviceTop() = default;
  /// cells: of the ORB, root first, children behind their parents. codes: of the trees in the leaves. Throws
  /// std::length_error if there are too many of both. Cost: O(leaves x depth), and O(cells) for each image.
  explicit DeviceTop(std::span<const Cell> cells, const NodeCodes& codes = bisection_codes,
                     const Images& images = {});

  /// Combines what the leaves tell, from both children of each cell, in double precision. notices (device):
  /// of all leaves, by number. reference: of all frames. Cost: O(cells).
  void combine(const LeafNotice* notices, const WalkUnits& units, const AcceptanceRule& rule,
               const Vec3d& reference);

  TopSources sources() const {
    return {{frames_.data(), core_.data(), moments_.data(), links_.data()},
            beginnings_.data(),
            first_beginning_.data(),
            codes_,
            boxes_.data()};
  }
  TopCells cells() const {
    return {cell_links_.data(), leaf_cell_.data(), centre_.data(), core_.data(), wanted_.data()};
  }

 private:
  NodeCodes codes_ = bisection_codes;
  Images images_;
  DeviceArray<TopLinks> cell_links_;
  DeviceArray<std::int32_t> parent_;
  DeviceArray<std::uint32_t> leaf_cell_;
  DeviceArray<NodeLinks> links_;
  DeviceArray<std::uint32_t> beginnings_, first_beginning_;

  DeviceArray<SourceFrame> frames_;
  DeviceArray<Vec3d> centre_;
  DeviceArray<NodeCore> core_;
  DeviceArray<NodeMoments> moments_;
  DeviceArray<NodeBox> boxes_;
  DeviceArray<Wanted> wanted_;
};

/// The place of the tree of a leaf in the arrays of all sources.
struct LeafPlace {
  std::uint32_t node, particle;
};
/// The frames of all leaves, image by image. places, notices (device): by number of the leaf. frames (out,
/// device): images.count() times as many.
void make_frames(const LeafNotice* notices, const LeafPlace* places, std::size_t leaves,
                 const Vec3d& reference, const WalkUnits& units, SourceFrame* frames,
                 const Images& images = {});

}  // namespace grove::cuda
