#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/leaf_targets.hpp"

namespace grove::cuda {

/// Targets of the own leaves as other ranks are told of them, so that it holds for some steps: what
/// grove::ToldTargets is on the host. Trees keep their shape meanwhile.
class ToldTargets {
 public:
  /// The own leaves as they are.
  struct Now {
    const LeafTrees& trees;
    const float* old_acceleration;  ///< by particle, units of the run; and the next likewise
    const std::uint8_t* rung;
    AcceptanceRule rule;
    double per_acceleration;  ///< from units of the run to walk units
    double unit_length;
  };
  /// room: LetKeeping::Rule::room. Cost: a pass over the particles.
  ToldTargets(const Now& now, int first_active, float room);

  /// Finds whether all groups that are active now are within what was told, which lacking() says then. Leaves
  /// of which some are not are given twice the room that they had. Cost: O(leaves).
  void renew(const Now& now);

  /// [leaves] device memory, and the next likewise.
  const LeafTargets* leaves() const { return told_.data(); }
  /// For how much drift there is room, walk units.
  const float* drift() const { return drift_.data(); }
  /// A number in device memory, not 0 if what was told did not hold.
  const int* lacking() const { return lacking_.data(); }

 private:
  void tell(const Now& now, bool is_new);

  int first_active_;
  float room_;
  DeviceArray<float> drift_;
  DeviceArray<LeafTargets> told_;
  DeviceArray<int> lacking_{1};
};

}  // namespace grove::cuda
