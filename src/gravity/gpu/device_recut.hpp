#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "kernels/math/cell.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Cuts some cells of the ORB anew, down to buckets, once the particles have moved. Under CutRule::middle,
/// and CutRule::domains within domain cells, a cell has as many leaves of the same sizes as before, so
/// everything else stays: other leaves, who owns which, where their particles and nodes lie. Collective.
///
/// cells (in): numbers in domain.cells, left to right, none inside of another. particles, forest (in/out): of
/// the domain; the particles of a cell stay in its places, in another order. Returns the subtree of each
/// cell, root first, on every rank: what replace_subtrees() takes. Where a cell's leaves are on several
/// ranks, each of these gets the particles of all and cuts the cell for itself, so that nothing depends on
/// who owns what. targets_per_warp: as for DeviceForest::cut().
///
/// Cost: of the cells' particles what cuda::cut_to_leaves() and cuda::cut_leaves() cost, some 0.7 ms at
/// least, and for cells on several ranks the transfer of all fields; memory: 70 bytes per particle of the
/// cells on top, and for those of other ranks their fields.
std::vector<std::vector<Cell>> recut(const Communicator& comm, const DeviceExchange& exchange,
                                     DeviceParticles& particles, DeviceForest& forest, const Domain& domain,
                                     std::span<const std::int32_t> cells, std::int32_t targets_per_warp);

}  // namespace grove
