#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// The groups of all leaves. Device memory.
struct LeafGroups {
  DeviceArray<LeafPlaces> places;            ///< [leaves]
  DeviceArray<GroupRun> runs;                ///< [groups]
  DeviceArray<std::uint32_t> leaf_of_group;  ///< [groups]
};

/// Those of make_full_groups() on the host. places (in/out): get their groups. Cost: O(groups).
LeafGroups full_groups_of(std::span<LeafPlaces> places);

/// The largest nodes of at most group_size particles. places: as above; links (device): of their nodes, of
/// trees in which all nodes that are divided have two children. Cost: one pass over nodes and particles.
LeafGroups nodes_as_groups(std::span<LeafPlaces> places, const NodeLinks* links);

}  // namespace grove::cuda
