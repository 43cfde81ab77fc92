#pragma once

#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "forest/forest.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove {

/// The moments of all cells of the ORB, combined from those of the leaves in tree order, in double precision.
class TopMoments {
 public:
  /// cells (in): of the ORB, root first, children behind their parents. roots (in): of all leaves, by number,
  /// the same on every rank. Cost: O(cells).
  void combine(std::span<const Cell> cells, std::span<const LeafRoot> roots, const WalkUnits& units,
               const AcceptanceRule& rule);

  /// Valid until the next combine().
  TopTree view() const;
  std::uint64_t bytes() const { return bytes_of(centre_, core_, moments_, boxes_, links_); }

 private:
  std::vector<Vec3d> centre_;
  std::vector<NodeCore> core_;
  std::vector<NodeMoments> moments_;
  std::vector<NodeBox> boxes_;
  std::vector<TopLinks> links_;
};

}  // namespace grove
