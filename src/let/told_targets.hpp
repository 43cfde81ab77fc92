#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"
#include "forest/forest.hpp"
#include "kernels/math/acceptance.hpp"
#include "let/receivers.hpp"
#include "particles/particles.hpp"

namespace grove {

/// What other ranks are told of the targets of the own leaves, so that it holds for some steps: the boxes of
/// all groups with particles from one rung below the first active one on, with room for drift, and tolerances
/// a little less than theirs. Trees keep their shape meanwhile.
class ToldTargets {
 public:
  /// The own leaves as they are.
  struct Now {
    const Forest& forest;
    const Particles& particles;
    std::span<const Count> leaf_begin;  ///< Domain::leaf_begin
    AcceptanceRule rule;
    double per_acceleration;  ///< from units of the run to walk units
    double unit_length;
  };

  /// room: over the mean size of the groups of a leaf, from the middle to the farthest side.
  /// Cost: O(particles).
  ToldTargets(const Now& now, int first_active, float room);

  /// True if all groups that are active now are within what was told. Leaves of which some are not are given
  /// twice the room that they had; others have to be told of that. Cost: O(leaves).
  bool hold(const Now& now);

  /// By leaf.
  std::span<const LeafTargets> leaves() const { return told_; }
  /// [leaves] for how much drift there is room, walk units.
  std::span<const float> drift() const { return drift_; }

 private:
  LeafTargets with_room(const Now& now, std::int32_t leaf) const;

  int first_active_;
  float room_;
  std::vector<float> drift_;
  std::vector<LeafTargets> told_;
};

}  // namespace grove
