#include "kernels/cuda/let/let_selection.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/let/let_pack.cuh"
#include "kernels/cuda/let/let_pairs.cuh"
#include "kernels/math/acceptance.hpp"

namespace grove::cuda {
namespace {

constexpr int selection_threads = 128;

/// By all lanes of a warp: whether one of the receivers may open a node that is seen in this frame.
__device__ bool is_image_opened(const LetReceivers& to, const std::uint32_t* receivers, std::uint32_t begin,
                                std::uint32_t end, const SourceFrame& frame, const NodeCore& core) {
  constexpr std::uint32_t rows = 4;  // receivers that a lane asks for before it needs the first
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t base = begin; base < end; base += 32 * rows) {
    bool opens = false;
#pragma unroll
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t r = base + 32 * row + lane;
      if (r >= end) continue;
      const std::uint32_t target = receivers[r];
      const TargetBounds bounds = to.to.targets[target].bounds;
      const Vec3f shift = shift_between(frame, to.to.frames[target]);
      opens |=
          !accepts(core, bounds.distance2(core.centre + shift), bounds.inverse_tolerance, selection_margin);
    }
    if (__any_sync(~0u, opens)) return true;
  }
  return false;
}

/// By all lanes of a warp: whether one of the receivers may open a node, or an image of it. leaves: own
/// ones; own: that of the node.
__device__ bool is_opened(const LetReceivers& to, const std::uint32_t* receivers, std::uint32_t begin,
                          std::uint32_t end, std::uint32_t leaves, std::int32_t own, const NodeCore& core) {
  for (int image = 0; image < to.images.count(); ++image)
    if (is_image_opened(to, receivers, begin, end, to.frames[image * static_cast<int>(leaves) + own], core))
      return true;
  return false;
}

/// The children of a node.
struct Family {
  std::int32_t first, count;
};
__device__ Family family_of(const LeafTrees& trees, std::uint64_t node, const NodeLinks& links) {
  return {links.child, trees.children_of(node)};
}

__device__ void set_bit(std::uint32_t* bits, std::int32_t n) { atomicOr(&bits[n / 32], 1u << (n % 32)); }

/// Pairs of more receivers are marked by many warps: a leaf far out may reach around all others, which then
/// all have to be asked for each of its nodes.
constexpr std::uint32_t few_receivers = 256;
constexpr int many_threads = 1024;

/// By one thread: marks a node as opened and its children, which are returned, as selected. particles: of a
/// bucket.
__device__ Family open_node(const LeafTrees& trees, const LetMarks& marks, const LetPair& pair,
                            std::uint64_t node, std::int32_t n, std::int32_t& particles) {
  set_bit(marks.opened + pair.node / 32, n);
  const NodeLinks links = trees.links[node];
  if (links.child < 0) {
    particles = links.count;
    return {0, 0};
  }
  const Family family = family_of(trees, node, links);
  for (std::int32_t k = 0; k < family.count; ++k) set_bit(marks.selected + pair.node / 32, family.first + k);
  return family;
}

/// Nodes of a level of a tree that no block holds which are left to mark_below().
constexpr std::int32_t enough_nodes = 256;
/// In the list of a tree's nodes.
struct NodeRange {
  std::int32_t begin, end;
};

/// One block per pair among those listed: descends the tree level by level, a warp per node. marks: cleared.
/// rest: what is left of large trees.
template <int selection_threads>
__global__ void __launch_bounds__(selection_threads)
    mark(const LeafTrees trees, const LetReceivers to, const std::uint32_t* receivers, const LetPair* pairs,
         const std::uint32_t* list, SelectedTree* selected, NodeRange* rest, const LetMarks marks) {
  constexpr int warps = selection_threads / 32;
  __shared__ std::int32_t memory[most_in_block];
  __shared__ std::int32_t nodes, particles;
  const LetPair pair = pairs[list[blockIdx.x]];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  const bool is_large = leaf.nodes > most_in_block;
  std::int32_t* const queue = is_large ? marks.number + pair.node : memory;
  if (threadIdx.x == 0) {
    queue[0] = 0;
    set_bit(marks.selected + pair.node / 32, 0);
    nodes = 1;
    particles = 0;
  }
  __syncthreads();
  NodeRange level{0, 1};
  while (level.begin < level.end && !(is_large && level.end - level.begin >= enough_nodes)) {
    for (std::int32_t i = level.begin + static_cast<std::int32_t>(threadIdx.x / 32); i < level.end;
         i += warps) {
      const std::int32_t n = queue[i];
      const std::uint64_t node = leaf.node + static_cast<std::uint64_t>(n);
      if (!is_opened(to, receivers, pair.begin, pair.end, trees.count, pair.leaf, trees.core[node])) continue;
      if (threadIdx.x % 32 != 0) continue;
      std::int32_t found = 0;
      const Family family = open_node(trees, marks, pair, node, n, found);
      if (found > 0) atomicAdd(&particles, found);
      const std::int32_t place = atomicAdd(&nodes, family.count);
      for (std::int32_t k = 0; k < family.count; ++k) queue[place + k] = family.first + k;
    }
    __syncthreads();
    level = {level.end, nodes};
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  selected[list[blockIdx.x]] = {pair.leaf, pair.slot, nodes, particles};
  rest[list[blockIdx.x]] = level;
}

/// Goes on below the nodes that are left of large trees: a warp per node, depth first. Blocks along y share a
/// pair.
__global__ void __launch_bounds__(selection_threads)
    mark_below(const LeafTrees trees, const LetReceivers to, const std::uint32_t* receivers,
               const LetPair* pairs, const NodeRange* rest, SelectedTree* selected, const LetMarks marks) {
  constexpr int warps = selection_threads / 32;
  // A node of an octree has 16 children at most, and cells are halved 32 times, coincident particles divided
  // by eight 11 times more.
  constexpr std::int32_t most_waiting = 43 * 15 + 1;
  __shared__ std::int32_t stacks[warps][most_waiting];
  const LetPair pair = pairs[blockIdx.x];
  const std::uint64_t first_node = trees.leaves[pair.leaf].node;
  const auto warp = static_cast<std::int32_t>(threadIdx.x / 32);
  const bool is_leader = threadIdx.x % 32 == 0;
  std::int32_t* const stack = stacks[warp];
  std::int32_t nodes = 0, particles = 0;
  for (std::int32_t i = rest[blockIdx.x].begin + static_cast<std::int32_t>(blockIdx.y) * warps + warp;
       i < rest[blockIdx.x].end; i += static_cast<std::int32_t>(gridDim.y) * warps) {
    if (is_leader) stack[0] = marks.number[pair.node + static_cast<std::uint64_t>(i)];
    for (std::int32_t size = 1; size > 0;) {
      __syncwarp();
      const std::int32_t n = stack[--size];
      const std::uint64_t node = first_node + static_cast<std::uint64_t>(n);
      if (!is_opened(to, receivers, pair.begin, pair.end, trees.count, pair.leaf, trees.core[node])) continue;
      Family family{0, 0};
      std::int32_t found = 0;
      if (is_leader) family = open_node(trees, marks, pair, node, n, found);
      family.count = __shfl_sync(~0u, family.count, 0);
      if (is_leader) {
        nodes += family.count;
        particles += found;
        if (size + family.count > most_waiting) __trap();
        for (std::int32_t k = 0; k < family.count; ++k) stack[size + k] = family.first + k;
      }
      size += family.count;
    }
    __syncwarp();
  }
  if (!is_leader || nodes + particles == 0) return;
  atomicAdd(&selected[blockIdx.x].nodes, nodes);
  atomicAdd(&selected[blockIdx.x].particles, particles);
}

}  // namespace

LetSelection::LetSelection(const LeafTrees& trees, std::int32_t largest_tree, const LetReceivers& receivers)
    : trees_(trees), largest_tree_(largest_tree) {
  if (trees.count == 0 || receivers.to.piece_count == 0) return;
  LetPairs found = find_let_pairs(trees, receivers);
  opened_ = std::move(found.opened);
  const DeviceArray<LetPair>& pairs = found.pairs;
  if (pairs.size() == 0) return;
  selected_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  opened_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  if (largest_tree > most_in_block) number_ = DeviceArray<std::int32_t>(found.nodes);
  const DeviceArray<SelectedTree> selected(pairs.size());
  const DeviceArray<NodeRange> rest(pairs.size());
  selected_bits_.clear();
  opened_bits_.clear();
  pairs_.resize(pairs.size());
  pairs.download(pairs_);
  std::vector<std::uint32_t> few, many;
  for (std::uint32_t i = 0; i < pairs_.size(); ++i)
    (pairs_[i].end - pairs_[i].begin > few_receivers ? many : few).push_back(i);
  const auto mark_pairs = [&](const auto& kernel, int threads_of_block,
                              const std::vector<std::uint32_t>& list) {
    if (list.empty()) return;
    const DeviceArray<std::uint32_t> device_list{std::span<const std::uint32_t>(list)};
    kernel<<<static_cast<unsigned>(list.size()), threads_of_block, 0, stream()>>>(
        trees, receivers, found.receivers.data(), pairs.data(), device_list.data(), selected.data(),
        rest.data(), marks());
    launched("Grove::cuda::mark");
  };
  mark_pairs(mark<many_threads>, many_threads, many);
  mark_pairs(mark<selection_threads>, selection_threads, few);
  if (largest_tree > most_in_block) {
    const auto blocks = static_cast<unsigned>(pairs.size());
    const dim3 of_pairs(blocks, std::max(1u, enough_blocks / blocks));
    mark_below<<<of_pairs, selection_threads, 0, stream()>>>(
        trees, receivers, found.receivers.data(), pairs.data(), rest.data(), selected.data(), marks());
    launched("Grove::cuda::mark_below");
  }
  std::vector<SelectedTree> by_pair(pairs.size());
  selected.download(by_pair);
  pair_of_.resize(by_pair.size());
  std::iota(pair_of_.begin(), pair_of_.end(), 0u);
  std::sort(pair_of_.begin(), pair_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(by_pair[a].slot, by_pair[a].leaf) < std::tie(by_pair[b].slot, by_pair[b].leaf);
  });
  for (const std::uint32_t pair : pair_of_) selected_.push_back(by_pair[pair]);
}

LetMarks LetSelection::marks() const { return {selected_bits_.data(), opened_bits_.data(), number_.data()}; }

LetArrays LetSelection::pack(const GravityParameters& gravity) const {
  std::vector<PackPlaces> places;
  std::uint64_t node = 0, particle = 0;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    places.push_back({node, particle, pairs_[pair_of_[i]].node, selected_[i].leaf});
    node += static_cast<std::uint64_t>(selected_[i].nodes);
    particle += static_cast<std::uint64_t>(selected_[i].particles);
  }
  LetArrays arrays(gravity, node, particle);
  pack_trees(trees_, largest_tree_, places, marks(), arrays);
  return arrays;
}

}  // namespace grove::cuda
