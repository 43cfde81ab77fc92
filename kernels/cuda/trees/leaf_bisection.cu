#include "kernels/cuda/trees/leaf_bisection.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/trees/leaf_bisection.cuh"

namespace grove::cuda {
namespace {

constexpr int cut_threads = 512;

struct Leaf {
  std::uint64_t first;  ///< record
  std::uint64_t node;   ///< first node
  std::int32_t count;
};

/// The records of a leaf.
struct RecordsOfLeaf {
  Columns records;  ///< of all leaves, and the next likewise
  const ParticleId* ids;
  std::uint64_t first;

  __device__ IntegerPosition coordinates(int i) const {
    const std::uint64_t r = first + static_cast<std::uint64_t>(i);
    return {records.at[0][r], records.at[1][r], records.at[2][r]};
  }
  __device__ std::uint32_t index(int i) const { return records.at[3][first + static_cast<std::uint64_t>(i)]; }
  __device__ ParticleId id(int i) const { return ids[index(i)]; }
};

template <int items>
__global__ void __launch_bounds__(cut_threads, 2)
    cut(const Leaf* leaves, const Columns records, const ParticleId* ids, const GroupCuts rule,
        std::uint32_t* order, NodeLinks* links) {
  extern __shared__ __align__(16) std::byte memory[];
  const Leaf& leaf = leaves[blockIdx.x];
  if (leaf.count == 0) return;
  LeafBisection<cut_threads, items, RecordsOfLeaf>(*reinterpret_cast<CutMemory<cut_threads, items>*>(memory),
                                                   {records, ids, leaf.first}, leaf.count, rule,
                                                   order + leaf.first, links + leaf.node)
      .run();
}

}  // namespace

void cut_leaves(std::span<const Count> leaf_begin, std::span<const Count> node_begin,
                const DeviceRecords& records, const ParticleId* ids, std::uint32_t* order, NodeLinks* links,
                const GroupCuts& rule) {
  std::vector<Leaf> leaves;
  std::int32_t largest = 0;
  for (std::size_t i = 0; i + 1 < leaf_begin.size(); ++i) {
    const auto count = static_cast<std::int32_t>(leaf_begin[i + 1] - leaf_begin[i]);
    leaves.push_back(
        {static_cast<std::uint64_t>(leaf_begin[i]), static_cast<std::uint64_t>(node_begin[i]), count});
    largest = std::max(largest, count);
  }
  if (largest == 0) return;
  const DeviceArray<Leaf> device_leaves{std::span<const Leaf>(leaves)};
  with_items<cut_threads>(largest, [&](auto per_thread) {
    constexpr int items = decltype(per_thread)::value;
    allow_cut_memory<cut_threads, items>(cut<items>);
    cut<items><<<static_cast<unsigned>(leaves.size()), cut_threads, sizeof(CutMemory<cut_threads, items>)>>>(
        device_leaves.data(), columns_of(records), ids, rule, order, links);
  });
  const auto bytes = static_cast<std::uint64_t>(24 * leaf_begin.back() + 16 * node_begin.back());
  launched("Grove::cuda::cut_leaves", bytes);
}

}  // namespace grove::cuda
