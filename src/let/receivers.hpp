#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/vec3.hpp"
#include "decomposition/domain.hpp"
#include "kernels/math/walk_views.hpp"
#include "kernels/math/wanted.hpp"

namespace grove {

/// A leaf of another rank whose walks may open nodes of an own tree.
struct Receiver {
  TargetBounds bounds;  ///< of its groups, offsets from its origin in walk units
  Vec3f shift;          ///< takes places in the own tree's leaf to its places
  std::int32_t leaf;    ///< its number in the ORB
  std::int32_t rank;    ///< its owner
};

/// Finds the receivers of a tree by a descent of the ORB, whose inner cells carry the union of what their
/// leaves want.
class ReceiverSearch {
 public:
  /// bounds, origins (in): what each leaf of the ORB publishes, by number; must outlive the search. Cost:
  /// O(cells).
  ReceiverSearch(const Domain& domain, int own_rank, std::span<const TargetBounds> bounds,
                 std::span<const Vec3d> origins, const WalkUnits& units);

  /// The leaves of other ranks for which the root of own leaf `leaf` may not stand for its particles, by
  /// number (so by rank too). top (in): the tree over the ORB. receivers (out): replaced.
  void find(std::int32_t leaf, const TopTree& top, std::vector<Receiver>& receivers) const;
  std::uint64_t bytes() const { return bytes_of(wanted_); }

 private:
  const Domain& domain_;
  int own_rank_;
  std::span<const TargetBounds> bounds_;
  std::span<const Vec3d> origins_;
  WalkUnits units_;
  std::vector<Wanted> wanted_;  // [cells]
};

}  // namespace grove
