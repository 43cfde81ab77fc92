#pragma once

#include <cstdint>

#include "kernels/cuda/walk/walk.hpp"

namespace grove::cuda {

/// By known cell of the ORB: the code (node_code.hpp) of where a walk goes on when it is done with what is
/// below; rope_end at the end. above, cells: of one DeviceTop. Cost: O(cells x depth).
DeviceArray<std::uint32_t> top_ropes(const TopSources& above, const TopCells& cells);

/// The ORB as walks along ropes follow it. Device memory.
struct RopeCells {
  TopCells cells;
  const std::uint32_t* next;  ///< [cells] top_ropes()
};

/// Which particles want forces. Device memory.
struct RopeTargets {
  LeafTrees trees;                 ///< of the leaves of this rank
  const float* old_acceleration;   ///< [particles of the leaves] in tree order, units of the run
  const std::uint32_t* particles;  ///< [count] numbers in tree order, a thread each; null: the first `count`
  std::uint32_t count;
};

/// Forces on single particles, a thread each, in one pass over all trees along their ropes: the criterion is
/// applied to each particle's own place and |a_old|. A reference for the walk of groups, and the plainest
/// walk there is. Sets the output of the particles in `targets`; a force is the same to the bit whatever the
/// order of the targets. Where the targets of a warp are close in tree order, they go together through what
/// any of them has to visit and read each node once; others go alone.
///
/// above: the cells of `sources`. median_acceleration: as of update_leaves(). Throws OpensPruned if a
/// pruned node would have to be opened. Cost: a test per node on a particle's way, whose nodes it reads
/// alone. Source: Nakasato 2012, J. Comput. Sci. 3, 132.
WalkCounts rope_walk(const GravityParameters& gravity, const WalkUnits& units, double median_acceleration,
                     const WalkSources& sources, const RopeCells& above, const RopeTargets& targets,
                     const ForceOutput& output);

}  // namespace grove::cuda
