#pragma once

#include <cstdint>

#include "base/hash.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"
#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::test {

/// The set of a particle's neighbours.
struct NeighbourSet {
  std::uint64_t number = 0, sum = 0;
  std::uint64_t chain = 0;  ///< depends on their order, too

  GROVE_HOST_DEVICE void add(ParticleId id) {
    ++number;
    sum += mixed(id);
    chain = mixed(chain + id);
  }
};

/// The visitor that finds it.
struct CollectSets {
  using Sum = NeighbourSet;
  const ParticleId* id;  ///< in: of own and imported particles
  NeighbourSet* sets;    ///< out: of own ones

  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair& pair) const { sum.add(id[pair.source]); }
  GROVE_HOST_DEVICE void finish(std::uint32_t target, const Sum& sum) const { sets[target] = sum; }
};

/// Its walk on a GPU. Device memory.
void collect_sets(const NeighbourTree& tree, const cuda::NeighbourGroups& groups, const CollectSets& visitor);

}  // namespace grove::test
