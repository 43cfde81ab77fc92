#include "kernels/cuda/let_selection.hpp"

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <numeric>
#include <tuple>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/let_pairs.cuh"
#include "kernels/cuda/streams.cuh"
#include "kernels/math/acceptance.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
/// Nodes of trees whose lists are in the memory of a block: bisections, and octrees of so few.
constexpr std::int32_t most_in_block = 2048;

/// By all lanes of a warp: whether one of the receivers may open a node.
__device__ bool is_opened(const LetReceivers& to, const std::uint32_t* receivers, std::uint32_t begin,
                          std::uint32_t end, const SourceFrame& frame, const NodeCore& core) {
  constexpr std::uint32_t rows = 4;  // receivers that a lane asks for before it needs the first
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t base = begin; base < end; base += 32 * rows) {
    bool opens = false;
#pragma unroll
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t r = base + 32 * row + lane;
      if (r >= end) continue;
      const std::uint32_t leaf = receivers[r];
      const TargetBounds bounds = to.notices[leaf].bounds;
      const Vec3f shift = shift_between(frame, to.frames[leaf]);
      opens |= !accepts(core, bounds.distance2(core.centre + shift), bounds.strictness, selection_margin);
    }
    if (__any_sync(~0u, opens)) return true;
  }
  return false;
}

/// The children of a node.
struct Family {
  std::int32_t first, count;
};
__device__ Family family_of(const LeafTrees& trees, std::uint64_t node, const NodeLinks& links) {
  return {links.child, trees.children ? trees.children[node] : 2};
}

__device__ void set_bit(std::uint32_t* bits, std::int32_t n) { atomicOr(&bits[n / 32], 1u << (n % 32)); }
__device__ bool has_bit(const std::uint32_t* bits, std::int32_t n) { return bits[n / 32] >> (n % 32) & 1; }

/// Pairs of more receivers are marked by many warps: a leaf far out may reach around all others, which then
/// all have to be asked for each of its nodes.
constexpr std::uint32_t few_receivers = 256;
constexpr int many_threads = 1024;

/// One block per pair among those listed: descends the tree level by level, a warp per node. marks: cleared.
template <int threads>
__global__ void __launch_bounds__(threads)
    mark(const LeafTrees trees, const LetReceivers to, const std::uint32_t* receivers, const LetPair* pairs,
         const std::uint32_t* list, SelectedTree* selected, const LetMarks marks) {
  constexpr int warps = threads / 32;
  __shared__ std::int32_t memory[most_in_block];
  __shared__ std::int32_t nodes, particles;
  const LetPair pair = pairs[list[blockIdx.x]];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  const SourceFrame frame = to.frames[to.first_leaf[to.own_rank] + pair.leaf];
  std::int32_t* const queue = leaf.nodes <= most_in_block ? memory : marks.number + pair.node;
  if (threadIdx.x == 0) {
    queue[0] = 0;
    set_bit(marks.selected + pair.node / 32, 0);
    nodes = 1;
    particles = 0;
  }
  __syncthreads();
  for (std::int32_t begin = 0, end = 1; begin < end;) {
    for (std::int32_t i = begin + static_cast<std::int32_t>(threadIdx.x / 32); i < end; i += warps) {
      const std::int32_t n = queue[i];
      const std::uint64_t node = leaf.node + static_cast<std::uint64_t>(n);
      if (!is_opened(to, receivers, pair.begin, pair.end, frame, trees.core[node])) continue;
      if (threadIdx.x % 32 != 0) continue;
      set_bit(marks.opened + pair.node / 32, n);
      const NodeLinks links = trees.links[node];
      if (links.child < 0) {
        atomicAdd(&particles, links.count);
        continue;
      }
      const Family family = family_of(trees, node, links);
      const std::int32_t place = atomicAdd(&nodes, family.count);
      for (std::int32_t k = 0; k < family.count; ++k) {
        queue[place + k] = family.first + k;
        set_bit(marks.selected + pair.node / 32, family.first + k);
      }
    }
    __syncthreads();
    begin = end;
    end = nodes;
    __syncthreads();
  }
  if (threadIdx.x == 0) selected[list[blockIdx.x]] = {pair.leaf, pair.rank, nodes, particles};
}

/// Where the parts of a tree go.
struct PackPlaces {
  std::uint64_t node, particle;
  std::uint64_t marks;  ///< first of the pair
  std::int32_t leaf;
};

struct LetPointers {
  NodeCore* core;
  NodeMoments* moments;
  NodeLinks* links;
  std::uint8_t* children;
  SourceParticle* particles;
  float* softening;
};

/// A tree that is packed by one block.
struct TreePacking {
  const LeafTrees& trees;
  const LeafPlaces& leaf;
  const PackPlaces& place;
  const std::uint32_t *selected, *opened;
  std::int32_t* number;  ///< of a node among those selected
  const LetPointers& out;

  /// before: opened buckets' particles before this node.
  __device__ void store(std::int32_t n, std::int32_t before) const {
    const std::uint64_t from = leaf.node + static_cast<std::uint64_t>(n),
                        to = place.node + static_cast<std::uint64_t>(number[n]);
    out.core[to] = trees.core[from];
    out.moments[to] = trees.moments[from];
    if (trees.children) out.children[to] = trees.children[from];
    NodeLinks link = trees.links[from];
    // What comes next is a sibling of a selected node, or of one above it: selected, too.
    if (link.next >= 0) link.next = number[link.next];
    const std::int32_t first = link.first;
    const bool is_open = has_bit(opened, n);
    link.first = is_open ? before : 0;
    if (!is_open)
      link.child = NodeLinks::pruned;
    else if (link.child >= 0)
      link.child = number[link.child];
    else
      copy_particles(first, before, link.count);
    out.links[to] = link;
  }

  __device__ void copy_particles(std::int32_t first, std::int32_t before, std::int32_t count) const {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::uint64_t from = leaf.first + static_cast<std::uint64_t>(first + i),
                          to = place.particle + static_cast<std::uint64_t>(before + i);
      out.particles[to] = trees.sources[from];
      out.softening[to] = trees.softening[from];
    }
  }

  /// Particles that a node brings along.
  __device__ std::int32_t particles_of(std::int32_t n) const {
    if (n >= leaf.nodes || !has_bit(opened, n)) return 0;
    const NodeLinks link = trees.links[leaf.node + static_cast<std::uint64_t>(n)];
    return link.child < 0 ? link.count : 0;
  }
};

/// One block per selected tree, in rounds of a node per thread: first numbers, then all else.
__global__ void __launch_bounds__(threads)
    pack_tree(const LeafTrees trees, const PackPlaces* places, const LetMarks marks, const LetPointers out) {
  using Scan = cub::BlockScan<std::int32_t, threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::int32_t memory[most_in_block];
  const PackPlaces place = places[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[place.leaf];
  const TreePacking tree{trees,
                         leaf,
                         place,
                         marks.selected + place.marks / 32,
                         marks.opened + place.marks / 32,
                         leaf.nodes <= most_in_block ? memory : marks.number + place.marks,
                         out};
  std::int32_t done = 0;
  const auto count_on = [&](std::int32_t value) {
    std::int32_t before = 0, all = 0;
    Scan(storage).ExclusiveSum(value, before, all);
    __syncthreads();
    before += done;
    done += all;
    return before;
  };
  for (std::int32_t first = 0; first < leaf.nodes; first += threads) {
    const std::int32_t n = first + static_cast<std::int32_t>(threadIdx.x);
    const bool is_selected = n < leaf.nodes && has_bit(tree.selected, n);
    const std::int32_t before = count_on(is_selected ? 1 : 0);
    if (is_selected) tree.number[n] = before;
  }
  __syncthreads();
  done = 0;
  for (std::int32_t first = 0; first < leaf.nodes; first += threads) {
    const std::int32_t n = first + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t before = count_on(tree.particles_of(n));
    if (n < leaf.nodes && has_bit(tree.selected, n)) tree.store(n, before);
  }
}

}  // namespace

LetSelection::LetSelection(const LeafTrees& trees, std::int32_t largest_tree, const LetReceivers& receivers)
    : trees_(trees), receivers_(receivers) {
  if (trees.count == 0) return;
  const LetPairs found = find_let_pairs(trees, receivers);
  const DeviceArray<LetPair>& pairs = found.pairs;
  if (pairs.size() == 0) return;
  selected_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  opened_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  if (largest_tree > most_in_block) number_ = DeviceArray<std::int32_t>(found.nodes);
  const DeviceArray<SelectedTree> selected(pairs.size());
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
        trees, receivers, found.receivers.data(), pairs.data(), device_list.data(), selected.data(), marks());
    launched("Grove::cuda::mark");
  };
  mark_pairs(mark<many_threads>, many_threads, many);
  mark_pairs(mark<threads>, threads, few);
  std::vector<SelectedTree> by_pair(pairs.size());
  selected.download(by_pair);
  pair_of_.resize(by_pair.size());
  std::iota(pair_of_.begin(), pair_of_.end(), 0u);
  std::sort(pair_of_.begin(), pair_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(by_pair[a].rank, by_pair[a].leaf) < std::tie(by_pair[b].rank, by_pair[b].leaf);
  });
  for (const std::uint32_t pair : pair_of_) selected_.push_back(by_pair[pair]);
}

LetMarks LetSelection::marks() const { return {selected_bits_.data(), opened_bits_.data(), number_.data()}; }

LetArrays LetSelection::pack() const {
  std::vector<PackPlaces> places;
  std::uint64_t node = 0, particle = 0;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    places.push_back({node, particle, pairs_[pair_of_[i]].node, selected_[i].leaf});
    node += static_cast<std::uint64_t>(selected_[i].nodes);
    particle += static_cast<std::uint64_t>(selected_[i].particles);
  }
  LetArrays arrays{
      DeviceArray<NodeCore>(node),           DeviceArray<NodeMoments>(node),
      DeviceArray<NodeLinks>(node),          DeviceArray<std::uint8_t>(trees_.children ? node : 0),
      DeviceArray<SourceParticle>(particle), DeviceArray<float>(particle)};
  if (places.empty()) return arrays;
  const DeviceArray<PackPlaces> device_places{std::span<const PackPlaces>(places)};
  pack_tree<<<static_cast<unsigned>(places.size()), threads, 0, stream()>>>(
      trees_, device_places.data(), marks(),
      LetPointers{arrays.core.data(), arrays.moments.data(), arrays.links.data(), arrays.children.data(),
                  arrays.particles.data(), arrays.softening.data()});
  launched("Grove::cuda::pack_tree");
  return arrays;
}

}  // namespace grove::cuda
