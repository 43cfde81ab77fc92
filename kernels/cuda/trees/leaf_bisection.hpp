#pragma once

#include <cstdint>
#include <span>

#include "base/types.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/group_cuts.hpp"
#include "kernels/math/node.hpp"

namespace grove::cuda {

/// The largest leaf that one block holds.
inline constexpr std::int32_t most_in_leaf = 4096;

/// Cuts leaves down to groups and buckets, the same cells in the same order as grove::cut_leaves() on the
/// host, one block per leaf.
///
/// A leaf's particles are sorted along each axis once, by (coordinate, id). The three lists of a cell then
/// lie in the same range, so its tight bounds are their ends, its middle a binary search and its cut
/// a place in one of them; dividing it is a stable partition of the other two. All of it in shared memory.
///
/// leaf_begin (host): first record of each leaf, length leaves + 1, at most most_in_leaf in each; node_begin
/// (host): first node of each leaf, length leaves + 1, running sums of local_cells(). records (device): in
/// leaf order. ids (device): by Record::index.
/// rule: with twice group_size for targets_per_warp the first and the second group of a leaf are a cell, and
/// so on. order (out, device): indices of the particles in tree order; links (out, device): of the nodes, as
/// TreeShapes has them.
///
/// Cost: 20 bytes read and 4 written per particle, 16 per node; some 2000 instructions per particle.
void cut_leaves(std::span<const Count> leaf_begin, std::span<const Count> node_begin,
                const DeviceRecords& records, const ParticleId* ids, std::uint32_t* order, NodeLinks* links,
                const GroupCuts& rule = {});

}  // namespace grove::cuda
