#include "kernels/cuda/gas/gas_walks.hpp"

#include <algorithm>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/neighbours/neighbour_walk.cuh"

namespace grove::cuda {
namespace {

/// Neighbours of a target that are listed, and warps that are under way at a time, which keep any GPU busy.
constexpr std::uint32_t most_listed = 256, most_warps = 2112;

struct ListedNeighbour {
  double r, mass;
};

/// Lists of all threads, the k-th neighbours of a warp's targets beside each other.
struct ListMemory {
  ListedNeighbour* values;  ///< [most_listed * slots]
  std::uint32_t* numbers;   ///< the same

  GROVE_HOST_DEVICE std::uint64_t begin(std::uint32_t slot) const {
    return std::uint64_t{slot / 32} * (32 * most_listed) + slot % 32;
  }
};

struct ListedCount {
  std::uint64_t begin;  ///< place of the first one
  std::uint32_t count;  ///< of neighbours, listed or not
};

/// A walk for itself, of neighbours that are not listed.
template <class Action>
struct VisitEach {
  struct Sum {};
  const FlowSource* sources;
  const Action& action;
  GROVE_HOST_DEVICE void particle(Sum&, const NeighbourPair& pair) const {
    action({std::sqrt(pair.r2), sources[pair.source].mass, pair.d, pair.source});
  }
};

/// The neighbours of a target.
struct ListedNeighbours {
  const NeighbourTree& tree;
  const FlowSource* sources;
  const ListMemory& memory;
  ListedCount list;
  std::uint32_t target;

  template <class Action>
  GROVE_HOST_DEVICE void for_each(const Action& action) const {
    if (list.count > most_listed) {
      neighbour_sum(tree, target_of(tree, target), target, VisitEach<Action>{sources, action});
      return;
    }
    const Vec3d place = tree.position[target];
    for (std::uint32_t k = 0; k < list.count; ++k) {
      const std::uint64_t at = list.begin + 32 * std::uint64_t{k};
      const ListedNeighbour neighbour = memory.values[at];
      const std::uint32_t number = memory.numbers[at];
      action(GasNeighbour{neighbour.r, neighbour.mass, tree.nearest(tree.position[number] - place), number});
    }
  }
};

struct FindDensityOnDevice {
  using Sum = ListedCount;
  const std::uint8_t* is_wanted;
  NeighbourTree tree;
  ListMemory memory;
  DensityFields fields;

  GROVE_HOST_DEVICE bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
  GROVE_HOST_DEVICE Sum begin(std::uint32_t slot) const { return {memory.begin(slot), 0}; }
  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair& pair) const {
    if (sum.count < most_listed) {
      const std::uint64_t at = sum.begin + 32 * std::uint64_t{sum.count};
      memory.values[at] = {std::sqrt(pair.r2), fields.sources[pair.source].mass};
      memory.numbers[at] = pair.source;
    }
    ++sum.count;
  }
  GROVE_HOST_DEVICE void finish(std::uint32_t i, const Sum& sum) const {
    fields.find(i, ListedNeighbours{tree, fields.sources, memory, sum, i});
  }
};

struct RaiseOnDevice {
  GROVE_HOST_DEVICE void operator()(std::uint32_t& number, std::uint32_t wanted) const {
#if defined(__CUDA_ARCH__)
    atomicMax(&number, wanted);
#else
    number = std::max(number, wanted);
#endif
  }
};

}  // namespace

void find_densities(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_wanted,
                    const DensityFields& fields) {
  const std::size_t warps = (std::min(groups.count, most_warps) + walk_warps - 1) / walk_warps * walk_warps,
                    listed = warps * 32 * most_listed;
  const DeviceArray<ListedNeighbour> values(listed);
  const DeviceArray<std::uint32_t> numbers(listed);
  walk_neighbour_groups(tree, groups,
                        FindDensityOnDevice{is_wanted, tree, {values.data(), numbers.data()}, fields},
                        "Grove::cuda::find_densities", most_warps);
}

void find_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& visitor) {
  walk_neighbour_groups(tree, groups, visitor, "Grove::cuda::find_rates");
}

void ask_neighbours(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_asking,
                    const std::uint8_t* rung, std::uint32_t* least) {
  walk_neighbour_groups(tree, groups, AskNeighbours<RaiseOnDevice>{is_asking, rung, least, {}},
                        "Grove::cuda::ask_neighbours");
}

}  // namespace grove::cuda
