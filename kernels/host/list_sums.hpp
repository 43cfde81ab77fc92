#pragma once

#include "kernels/host/group_walk.hpp"
#include "kernels/host/local_tree.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove {

/// The active particles of a group in vector registers' order, and what acts on them. Lanes beyond `count`
/// repeat the first one.
struct alignas(64) GroupLanes {
  float number[group_size];  ///< of each in the group
  float x[group_size], y[group_size], z[group_size];
  float plummer[group_size], spline[group_size];  ///< softening scales (see Plummer, Spline)
  float sum[4][group_size];   ///< of accelerations along the axes and of potentials, walk units
  float rest[4][group_size];  ///< what rounding has left out of the sums
  int count;

  void load(const TargetLeaf& target, const Group& group, const SofteningTable& softening);

  Vec3f acceleration(int i) const {
    return {sum[0][i] + rest[0][i], sum[1][i] + rest[1][i], sum[2][i] + rest[2][i]};
  }
  float potential(int i) const { return sum[3][i] + rest[3][i]; }
};

/// The parameters of the sums.
struct SumSetup {
  SofteningKernel kernel;
  Order order;
  SofteningTable softening;
};

/// So many sources, or an eighth as many buckets, are summed in single precision, and then added to
/// GroupLanes, which keeps what that rounds off. In a nearly homogeneous periodic box what acts from all
/// sides cancels but for a thousandth of it: sums over some 10,000 sources would err by 1e-3 of that.
inline constexpr int sum_block = 64;

/// Adds what the lists hold but for expanded cells: far cells, near cells, far buckets, near buckets, in this
/// order. Buckets whose first particle is in [skip_first, skip_last) are left out. Returns the number of
/// particles in the buckets, those of the buckets left out not counted.
std::int64_t sum_lists(const SumSetup& setup, const LocalTree& tree, const InteractionLists& lists,
                       std::int32_t skip_first, std::int32_t skip_last, GroupLanes& lanes);

/// Adds what the particles of the group do to each other.
void sum_within(const SumSetup& setup, const TargetLeaf& target, const Group& group, GroupLanes& lanes);

}  // namespace grove
