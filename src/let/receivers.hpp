#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/vec3.hpp"
#include "kernels/math/leaf_targets.hpp"
#include "kernels/math/walk_views.hpp"
#include "kernels/math/wanted.hpp"

namespace grove {

/// A leaf of another rank whose walks may open nodes of an own tree.
struct Receiver {
  TargetBounds bounds;  ///< as LeafTargets
  Vec3f shift;          ///< takes places in the own tree's leaf to its places
};

/// Finds among the leaves of another rank those that may open an own cell, by a descent of a tree over them,
/// whose nodes carry the union of what their leaves want.
class ReceiverSearch {
 public:
  /// leaves (in): in tree order; those that are none are left out. Cost: O(leaves).
  ReceiverSearch(std::span<const LeafTargets> leaves, const WalkUnits& units, const Images& images = {});

  /// True if any may open a cell with this centre of mass (units of the run).
  bool may_open(const Vec3d& centre, const NodeCore& core, const Ball& ball) const;
  /// Those that may open the root of an own tree, once for each image of it. origin: of its leaf. receivers
  /// (out): replaced.
  void find(const Vec3d& centre, const NodeCore& core, const Ball& ball, const Vec3d& origin,
            std::vector<Receiver>& receivers) const;
  double unit_length() const { return units_.length; }
  std::uint64_t bytes() const { return bytes_of(leaves_, wanted_); }

 private:
  template <class Take>
  void search(const Vec3d& centre, const NodeCore& core, const Ball& ball, bool is_inner,
              const Take& take) const;

  WalkUnits units_;
  Images images_;
  std::vector<LeafTargets> leaves_;
  /// A binary tree: the children of node n are 2 n and 2 n + 1, the root is 1, the leaves come at the end.
  std::vector<Wanted> wanted_;
};

}  // namespace grove
