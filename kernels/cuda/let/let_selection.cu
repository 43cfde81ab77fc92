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

/// By all lanes of a warp: what those of all lanes want together.
__device__ Wanted united_of_warp(Wanted wanted) {
  for (int step = 16; step > 0; step /= 2) {
    Wanted other = wanted;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      other.low[axis] = __shfl_xor_sync(~0u, wanted.low[axis], step);
      other.high[axis] = __shfl_xor_sync(~0u, wanted.high[axis], step);
    }
    other.inverse_tolerance = __shfl_xor_sync(~0u, wanted.inverse_tolerance, step);
    other.radius = __shfl_xor_sync(~0u, wanted.radius, step);
    wanted = Wanted::united_if_any(wanted, other);
  }
  return wanted;
}

/// The receivers of a pair, for a block that asks them about nodes of the tree. A leaf far out may reach
/// around all leaves of another rank: then each node asks clusters of them first, and those alone that may
/// open it receiver by receiver. Receivers are listed as their leaves lie in space, so clusters are compact.
class PairReceivers {
 public:
  static constexpr std::uint32_t most_clusters = 128;

  /// By all threads of a block, which wait for each other before the first question. clusters: shared.
  __device__ PairReceivers(const LeafTrees& trees, const LetReceivers& to, const std::uint32_t* receivers,
                           const LetPair& pair, Wanted* clusters)
      : to_(to),
        list_(receivers + pair.begin),
        count_(pair.end - pair.begin),
        rounds_((count_ + 32 * most_clusters - 1) / (32 * most_clusters)),
        clusters_(clusters),
        origin_(trees.origin[pair.leaf]),
        ball_(trees.ball_of(static_cast<std::uint32_t>(pair.leaf))
                  .drifted(to.drift_of(pair.leaf) * to.unit_length)),
        frames_(to.frames + pair.leaf),
        drift_(to.drift_of(pair.leaf)),
        leaves_(trees.count) {
    for (std::uint32_t c = threadIdx.x / 32; c * size() < count_; c += blockDim.x / 32) {
      Wanted wanted = Wanted::nothing();
      for_each_round(c, [&](std::uint32_t r) {
        if (r < count_)
          wanted = Wanted::united_if_any(wanted, to_.to.targets[list_[r]].wanted(to_.unit_length));
      });
      wanted = united_of_warp(wanted);
      if (threadIdx.x % 32 == 0) clusters[c] = wanted;
    }
  }

  __device__ NodeCore with_room(const NodeCore& core) const { return drifted(core, drift_); }
  /// By all lanes of a warp: whether one of the receivers may open a node, or an image of it. core: with
  /// room.
  __device__ bool open(const NodeCore& core) const {
    const Vec3d centre = origin_ + core.centre.as<double>() * to_.unit_length;
    for (std::uint32_t first = 0; first * size() < count_; first += 32) {
      const std::uint32_t own = first + threadIdx.x % 32;
      const bool may = own * size() < count_ &&
                       clusters_[own].may_open(centre, core, ball_, false, to_.unit_length, to_.images);
      for (std::uint32_t asked = __ballot_sync(~0u, may); asked != 0; asked &= asked - 1)
        if (opens_one(first + static_cast<std::uint32_t>(__ffs(static_cast<int>(asked))) - 1, core))
          return true;
    }
    return false;
  }

 private:
  __device__ std::uint32_t size() const { return 32 * rounds_; }  ///< of a cluster
  template <class Visit>
  __device__ void for_each_round(std::uint32_t cluster, const Visit& visit) const {
    for (std::uint32_t round = 0; round < rounds_; ++round)
      visit(cluster * size() + 32 * round + threadIdx.x % 32);
  }

  __device__ bool opens_one(std::uint32_t cluster, const NodeCore& core) const {
    bool opens = false;
    for_each_round(cluster, [&](std::uint32_t r) { opens |= r < count_ && opens_receiver(list_[r], core); });
    return __any_sync(~0u, opens);
  }
  __device__ bool opens_receiver(std::uint32_t target, const NodeCore& core) const {
    const TargetBounds bounds = to_.to.targets[target].bounds;
    const SourceFrame frame = to_.to.frames[target];
    for (int image = 0; image < to_.images.count(); ++image) {
      const Vec3f shift = shift_between(frames_[image * static_cast<int>(leaves_)], frame);
      if (!accepts(core, bounds.distance2(core.centre + shift), bounds.inverse_tolerance, selection_margin))
        return true;
    }
    return false;
  }

  const LetReceivers& to_;
  const std::uint32_t* list_;
  std::uint32_t count_, rounds_;
  const Wanted* clusters_;
  Vec3d origin_;
  Ball ball_;
  const SourceFrame* frames_;  ///< of the pair's leaf, in one image after the other
  float drift_;                ///< for which there is room
  std::uint32_t leaves_;       ///< own ones, from one image to the next
};

/// The children of a node.
struct Family {
  std::int32_t first, count;
};
__device__ Family family_of(const LeafTrees& trees, std::uint64_t node, const NodeLinks& links) {
  return {links.child, trees.children_of(node)};
}

__device__ void set_bit(std::uint32_t* bits, std::int32_t n) { atomicOr(&bits[n / 32], 1u << (n % 32)); }

/// By all lanes of a warp: the core that one of them has.
__device__ NodeCore core_of_lane(NodeCore core, std::int32_t lane) {
  for (int axis = 0; axis < 3; ++axis) core.centre[axis] = __shfl_sync(~0u, core.centre[axis], lane);
  core.reach2 = __shfl_sync(~0u, core.reach2, lane);
  core.power = __shfl_sync(~0u, core.power, lane);
  return core;
}

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

constexpr int mark_threads = 512, below_threads = 128;

/// One block per pair: descends the tree level by level. A warp takes up to 32 nodes at once, which its lanes
/// fetch together, and asks for one after the other. marks: cleared. rest: what is left of large trees.
__global__ void __launch_bounds__(mark_threads)
    mark(const LeafTrees trees, const LetReceivers to, const std::uint32_t* list, const LetPair* pairs,
         SelectedTree* selected, NodeRange* rest, const LetMarks marks) {
  constexpr int warps = mark_threads / 32;
  __shared__ Wanted clusters[PairReceivers::most_clusters];
  __shared__ std::int32_t memory[most_in_block];
  __shared__ std::int32_t nodes, particles;
  const LetPair pair = pairs[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  const PairReceivers receivers(trees, to, list, pair, clusters);
  const bool is_large = leaf.nodes > most_in_block;
  std::int32_t* const queue = is_large ? marks.number + pair.node : memory;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32),
             warp = static_cast<std::int32_t>(threadIdx.x / 32);
  if (threadIdx.x == 0) {
    queue[0] = 0;
    set_bit(marks.selected + pair.node / 32, 0);
    nodes = 1;
    particles = 0;
  }
  __syncthreads();
  NodeRange level{0, 1};
  while (level.begin < level.end && !(is_large && level.end - level.begin >= enough_nodes)) {
    for (std::int32_t first = level.begin + warp; first < level.end; first += 32 * warps) {
      const std::int32_t i = first + lane * warps;
      const std::int32_t n = i < level.end ? queue[i] : 0;
      const std::uint64_t node = leaf.node + static_cast<std::uint64_t>(n);
      const NodeCore core = receivers.with_room(trees.core[node]);
      const std::int32_t asked = __popc(__ballot_sync(~0u, i < level.end));
      bool opens = false;
      for (std::int32_t k = 0; k < asked; ++k) {
        const bool is_opened = receivers.open(core_of_lane(core, k));
        if (lane == k) opens = is_opened;
      }
      if (!opens) continue;
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
  selected[blockIdx.x] = {pair.leaf, pair.slot, nodes, particles};
  rest[blockIdx.x] = level;
}

/// Goes on below the nodes that are left of large trees: a warp per node, depth first. Blocks along y share a
/// pair.
__global__ void __launch_bounds__(below_threads)
    mark_below(const LeafTrees trees, const LetReceivers to, const std::uint32_t* list, const LetPair* pairs,
               const NodeRange* rest, SelectedTree* selected, const LetMarks marks) {
  constexpr int warps = below_threads / 32;
  // A node of an octree has 16 children at most, and cells are halved 32 times, coincident particles divided
  // by eight 11 times more.
  constexpr std::int32_t most_waiting = 43 * 15 + 1;
  __shared__ std::int32_t stacks[warps][most_waiting];
  __shared__ Wanted clusters[PairReceivers::most_clusters];
  const LetPair pair = pairs[blockIdx.x];
  const PairReceivers receivers(trees, to, list, pair, clusters);
  __syncthreads();
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
      if (!receivers.open(receivers.with_room(trees.core[node]))) continue;
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
    : largest_tree_(largest_tree) {
  if (trees.count == 0 || receivers.to.piece_count == 0) return;
  const LetPairs found = find_let_pairs(trees, receivers);
  const DeviceArray<SelectedTree> selected = mark_all(trees, found, receivers);
  opened_.words = found.words;
  opened_.bits.resize(found.opened.size());
  pairs_.resize(found.pairs.size());
  std::vector<SelectedTree> by_pair(pairs_.size());
  const Download all[] = {found.opened.download_to(opened_.bits), found.pairs.download_to(pairs_),
                          selected.download_to(by_pair)};
  device_download(all);
  pair_of_.resize(by_pair.size());
  std::iota(pair_of_.begin(), pair_of_.end(), 0u);
  std::sort(pair_of_.begin(), pair_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(by_pair[a].slot, by_pair[a].leaf) < std::tie(by_pair[b].slot, by_pair[b].leaf);
  });
  for (const std::uint32_t pair : pair_of_) selected_.push_back(by_pair[pair]);
}

/// Marks what is selected of each pair. Returns how much that is (device).
DeviceArray<SelectedTree> LetSelection::mark_all(const LeafTrees& trees, const LetPairs& found,
                                                 const LetReceivers& receivers) {
  const auto pairs = static_cast<unsigned>(found.pairs.size());
  DeviceArray<SelectedTree> selected(pairs);
  if (pairs == 0) return selected;
  selected_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  opened_bits_ = DeviceArray<std::uint32_t>(found.nodes / 32);
  const bool has_large = largest_tree_ > most_in_block;
  if (has_large) number_ = DeviceArray<std::int32_t>(found.nodes);
  const DeviceArray<NodeRange> rest(pairs);
  selected_bits_.clear();
  opened_bits_.clear();
  const std::uint32_t* const list = found.receivers.data();
  mark<<<pairs, mark_threads, 0, stream()>>>(trees, receivers, list, found.pairs.data(), selected.data(),
                                             rest.data(), marks());
  if (has_large)
    mark_below<<<dim3(pairs, std::max(1u, enough_blocks / pairs)), below_threads, 0, stream()>>>(
        trees, receivers, list, found.pairs.data(), rest.data(), selected.data(), marks());
  launched("Grove::cuda::mark", 0, has_large ? 2 : 1);
  return selected;
}

LetMarks LetSelection::marks() const { return {selected_bits_.data(), opened_bits_.data(), number_.data()}; }

LetArrays LetSelection::pack(const LeafTrees& trees, const GravityParameters& gravity) const {
  std::vector<PackPlaces> places;
  std::uint64_t node = 0, particle = 0;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    places.push_back({node, particle, pairs_[pair_of_[i]].node, selected_[i].leaf});
    node += static_cast<std::uint64_t>(selected_[i].nodes);
    particle += static_cast<std::uint64_t>(selected_[i].particles);
  }
  LetArrays arrays(gravity, node, particle);
  pack_trees(trees, largest_tree_, places, marks(), arrays);
  return arrays;
}

}  // namespace grove::cuda
