#pragma once

#include <span>

#include "kernels/math/acceptance.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"

/// Forces on groups of particles from trees, in two fixed passes: first from the groups' own leaf, then from
/// everything else. Nothing about a result depends on which rank computes it, nor on how leaves are spread
/// over calls.
///
/// For each leaf the nodes that any of its groups may open are gathered once, in the leaf's frame (the test
/// of a whole leaf, a little stricter than those of its groups); then each group goes through them breadth
/// first, many nodes at a time, which leaves lists of cells and of buckets; then the lists are summed,
/// targets in the lanes of vector registers, sources one after the other. Far cells are added to an expansion
/// about the middle of the group, cells in the lanes (local_expansion.hpp). Cost: a few hundred tests per
/// group and a few hundred interactions per particle.
namespace grove {

/// The parameters of a walk, apart from trees and targets.
struct WalkSetup {
  GravityParameters gravity;
  WalkUnits units;
  float critical_separation = 0;  ///< that parts of groups may reach; 0: groups are not split
};

/// First pass: sets acceleration, potential and work of all particles of the leaves to what their own leaf
/// does to them. targets[i], trees[i], outputs[i] are of the same leaf. Host memory.
WalkCounts walk_own(const WalkSetup& setup, std::span<const TargetLeaf> targets,
                    std::span<const SourceTree> trees, std::span<const ForceOutput> outputs);

/// Second pass: adds everything else. trees (in): by number of the leaf in the top tree; those that no target
/// opens may be empty. Throws OpensPruned if a pruned node or an empty tree would have to be
/// opened.
WalkCounts walk_others(const WalkSetup& setup, std::span<const TargetLeaf> targets, const TopTree& top,
                       std::span<const SourceTree> trees, std::span<const ForceOutput> outputs);

}  // namespace grove
