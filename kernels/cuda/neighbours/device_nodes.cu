#include "kernels/cuda/neighbours/device_nodes.hpp"

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/neighbour_box.hpp"

namespace grove::cuda {
namespace {

__device__ std::uint64_t item_index() { return blockIdx.x * std::uint64_t{threads} + threadIdx.x; }

/// Nodes in the order of a search are in the order of their first particles, larger ones first; an only child
/// stays behind its parent, as the sort is stable. One is added for each leaf, so that those without
/// particles have a place of their own.
__global__ void __launch_bounds__(threads)
    make_keys(const LocalTrees trees, int count_bits, std::uint64_t* keys, std::uint32_t* numbers,
              std::uint32_t* leaf_of_node) {
  const LeafPlaces place = trees.leaves[blockIdx.x];
  for (int k = static_cast<int>(threadIdx.x); k < place.nodes; k += threads) {
    const std::uint64_t node = place.node + static_cast<std::uint64_t>(k);
    const NodeLinks links = trees.links[node];
    const std::uint64_t first = place.first + blockIdx.x + static_cast<std::uint64_t>(links.first);
    keys[node] = first << count_bits | static_cast<std::uint64_t>(trees.largest_leaf - links.count);
    numbers[node] = static_cast<std::uint32_t>(node);
    leaf_of_node[node] = blockIdx.x;
  }
}

__global__ void __launch_bounds__(threads)
    invert(const std::uint32_t* order, std::uint32_t count, std::uint32_t* rank) {
  const std::uint64_t i = item_index();
  if (i < count) rank[order[i]] = static_cast<std::uint32_t>(i);
}

struct Placing {
  LocalTrees trees;
  const std::uint32_t *leaf_of_node, *rank;
  const std::uint32_t* leaf_begin;  ///< [leaves] in the whole tree

  __device__ std::uint32_t number(std::uint64_t node, const LeafPlaces& place, std::uint32_t leaf) const {
    return leaf_begin[leaf] + rank[node] - static_cast<std::uint32_t>(place.node);
  }
};

__global__ void __launch_bounds__(threads) place_nodes(const Placing placing, NeighbourNode* nodes) {
  const std::uint64_t node = item_index();
  if (node >= placing.trees.nodes) return;
  const std::uint32_t leaf = placing.leaf_of_node[node];
  const LeafPlaces place = placing.trees.leaves[leaf];
  const NodeLinks links = placing.trees.links[node];
  NeighbourNode& placed = nodes[placing.number(node, place, leaf)];
  placed.next = links.next < 0
                    ? placing.leaf_begin[leaf] + static_cast<std::uint32_t>(place.nodes)
                    : placing.number(place.node + static_cast<std::uint64_t>(links.next), place, leaf);
  placed.first = static_cast<std::uint32_t>(place.first) + static_cast<std::uint32_t>(links.first);
  placed.count = static_cast<std::uint32_t>(links.count);
}

__global__ void __launch_bounds__(threads)
    place_others(const PlacedNode* others, std::uint32_t count, NeighbourNode* nodes) {
  const std::uint64_t i = item_index();
  if (i >= count) return;
  const PlacedNode other = others[i];
  nodes[other.number].next = other.next;
  nodes[other.number].first = other.first;
  nodes[other.number].count = other.count;
}

__global__ void __launch_bounds__(threads) find_parents(const NeighbourNode* nodes, std::uint32_t size,
                                                        std::uint32_t* parent, std::uint32_t* children) {
  const std::uint64_t i = item_index();
  if (i >= size) return;
  const auto n = static_cast<std::uint32_t>(i);
  if (n == 0) parent[0] = 0;
  std::uint32_t count = 0;
  for (std::uint32_t child = n + 1; child < nodes[n].next; child = nodes[child].next)
    parent[child] = n, ++count;
  children[n] = count;
}

__device__ void set_box(NeighbourNode& node, const NeighbourTarget& box) {
  __stcg(&node.centre.x, box.centre.x), __stcg(&node.centre.y, box.centre.y);
  __stcg(&node.centre.z, box.centre.z), __stcg(&node.half.x, box.half.x);
  __stcg(&node.half.y, box.half.y), __stcg(&node.half.z, box.half.z);
  __stcg(&node.reach, box.reach);
}

/// The box that another thread has written, maybe on another multiprocessor: not one in its own cache.
__device__ NeighbourBounds bounds_of(const NeighbourNode& node) {
  const Vec3d centre{__ldcg(&node.centre.x), __ldcg(&node.centre.y), __ldcg(&node.centre.z)},
      half{__ldcg(&node.half.x), __ldcg(&node.half.y), __ldcg(&node.half.z)};
  if (half.x < 0) return {};
  return {centre - half, centre + half, __ldcg(&node.reach)};
}

/// Each bucket finds its box. Of the children of a node the one that comes last unites their boxes.
__global__ void __launch_bounds__(threads)
    fit_nodes(NeighbourNode* nodes, std::uint32_t size, const std::uint32_t* parent,
              const std::uint32_t* children, std::uint32_t* arrived, const Vec3d* position,
              const double* reach, bool with_reach) {
  const std::uint64_t i = item_index();
  if (i >= size) return;
  auto n = static_cast<std::uint32_t>(i);
  if (children[n] > 0) return;
  NeighbourBounds bounds;
  const std::uint32_t first = nodes[n].first, end = first + nodes[n].count;
  for (std::uint32_t p = first; p < end; ++p) bounds.add(position[p], reach[p]);
  if (!with_reach) bounds.reach = 0;
  set_box(nodes[n], bounds.target());
  while (n != 0) {
    n = parent[n];
    __threadfence();
    if (atomicAdd(&arrived[n], 1U) + 1 < children[n]) return;
    __threadfence();
    NeighbourBounds all;
    for (std::uint32_t child = n + 1; child < nodes[n].next; child = nodes[child].next)
      all.add(bounds_of(nodes[child]));
    set_box(nodes[n], all.target());
  }
}

}  // namespace

DeviceNodes::DeviceNodes(const LocalTrees& trees)
    : trees_(trees), leaf_of_node_(trees.nodes), rank_(trees.nodes) {
  if (trees.nodes == 0) return;
  const int count_bits = std::bit_width(static_cast<std::uint32_t>(trees.largest_leaf)),
            bits = count_bits + std::bit_width(std::uint64_t{trees.particles} + trees.leaf_count);
  const DeviceArray<std::uint64_t> keys(trees.nodes), sorted(trees.nodes);
  const DeviceArray<std::uint32_t> numbers(trees.nodes), order(trees.nodes);
  make_keys<<<trees.leaf_count, threads>>>(trees, count_bits, keys.data(), numbers.data(),
                                           leaf_of_node_.data());
  launched("Grove::cuda::make_keys");
  std::size_t bytes = 0;
  const auto sort = [&](void* memory) {
    GROVE_CUDA(cub::DeviceRadixSort::SortPairs(memory, bytes, keys.data(), sorted.data(), numbers.data(),
                                               order.data(), trees.nodes, 0, bits));
  };
  sort(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  sort(scratch.data());
  launched("Grove::cuda::sort_nodes", 24 * std::uint64_t{trees.nodes}, kernels_of_sort(bits));
  invert<<<blocks_for(trees.nodes), threads>>>(order.data(), trees.nodes, rank_.data());
  launched("Grove::cuda::invert", 8 * std::uint64_t{trees.nodes});
}

void DeviceNodes::lay_out(std::span<const std::uint32_t> leaf_begin, std::span<const PlacedNode> others,
                          std::uint32_t size) {
  size_ = size;
  nodes_.reserve(size);
  parent_.reserve(size);
  children_.reserve(size);
  arrived_.reserve(size);
  if (size == 0) return;
  const DeviceArray<std::uint32_t> begins{leaf_begin};
  const DeviceArray<PlacedNode> placed{others};
  if (trees_.nodes > 0) {
    place_nodes<<<blocks_for(trees_.nodes), threads>>>(
        Placing{trees_, leaf_of_node_.data(), rank_.data(), begins.data()}, nodes_.data());
    launched("Grove::cuda::place_nodes");
  }
  if (!others.empty()) {
    place_others<<<blocks_for(others.size()), threads>>>(
        placed.data(), static_cast<std::uint32_t>(others.size()), nodes_.data());
    launched("Grove::cuda::place_others");
  }
  find_parents<<<blocks_for(size), threads>>>(nodes_.data(), size, parent_.data(), children_.data());
  launched("Grove::cuda::find_parents");
}

void DeviceNodes::fit(const Vec3d* position, const double* reach, bool with_reach) {
  if (size_ == 0) return;
  arrived_.clear();
  fit_nodes<<<blocks_for(size_), threads>>>(nodes_.data(), size_, parent_.data(), children_.data(),
                                            arrived_.data(), position, reach, with_reach);
  launched("Grove::cuda::fit_nodes", sizeof(NeighbourNode) * std::uint64_t{size_});
}

}  // namespace grove::cuda
