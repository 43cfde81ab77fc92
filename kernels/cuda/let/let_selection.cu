#include "kernels/cuda/let/let_selection.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
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

/// By all lanes of a warp: the core that one of them has.
__device__ NodeCore core_of_lane(NodeCore core, std::int32_t lane) {
  for (int axis = 0; axis < 3; ++axis) core.centre[axis] = __shfl_sync(~0u, core.centre[axis], lane);
  core.reach2 = __shfl_sync(~0u, core.reach2, lane);
  core.power = __shfl_sync(~0u, core.power, lane);
  return core;
}

/// The receivers of a pair, for a block that asks them about nodes of the tree. A leaf far out may reach
/// around all leaves of another rank: then each node asks clusters of them first, and those alone that may
/// open it receiver by receiver, a lane each. Receivers are listed as their leaves lie in space, so clusters
/// are compact.
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
        if (r < count_) wanted = Wanted::united_if_any(wanted, to_.to.of_target[list_[r]]);
      });
      wanted = united_of_warp(wanted);
      if (threadIdx.x % 32 == 0) clusters[c] = wanted;
    }
  }

  /// By all lanes of a warp, a node each: whether one of the receivers may open it, or an image of it.
  __device__ bool open(NodeCore core, bool is_asked) const {
    core = drifted(core, drift_);
    const Vec3d centre = origin_ + core.centre.as<double>() * to_.unit_length;
    bool opens = false;
    for (std::uint32_t c = 0; c * size() < count_; ++c) {
      const bool may = is_asked && !opens &&
                       clusters_[c].may_open(centre, core, ball_, false, to_.unit_length, to_.images);
      for (std::uint32_t asked = __ballot_sync(~0u, may); asked != 0; asked &= asked - 1) {
        const int lane = __ffs(static_cast<int>(asked)) - 1;
        const bool is_opened = opens_one(c, core_of_lane(core, lane));
        if (static_cast<int>(threadIdx.x % 32) == lane) opens = is_opened;
      }
    }
    return opens;
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

/// By one thread: marks the children of a node that is opened, which are returned, as selected. particles: of
/// a bucket.
__device__ Family open_node(const LeafTrees& trees, std::uint32_t* selected, std::uint64_t node,
                            std::int32_t& particles) {
  const NodeLinks links = trees.links[node];
  if (links.child < 0) {
    particles = links.count;
    return {0, 0};
  }
  const Family family = family_of(trees, node, links);
  for (std::int32_t k = 0; k < family.count; ++k) set_bit(selected, family.first + k);
  return family;
}

constexpr int ask_threads = 256, mark_threads = 512;

/// The pairs that were found.
struct PairList {
  const LetPair* pairs;
  const std::uint32_t* receivers;
  const LetNumbers* found;
  LetNumbers room;

  __device__ bool has(std::uint32_t pair) const { return pair < found->pairs && room.has_room_for(*found); }
};

/// Asks for all nodes of the pairs' trees at once, whether anything above them is opened or not: descents
/// wait for memory on each level. A lane per node; blocks along y share a pair. opened (out): a word per
/// warp.
__global__ void __launch_bounds__(ask_threads)
    ask(const LeafTrees trees, const LetReceivers to, const PairList list, std::uint32_t* opened) {
  __shared__ Wanted clusters[PairReceivers::most_clusters];
  if (!list.has(blockIdx.x)) return;
  const LetPair pair = list.pairs[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  const auto begin = static_cast<std::int32_t>(blockIdx.y * ask_threads);
  if (begin >= leaf.nodes) return;
  const PairReceivers receivers(trees, to, list.receivers, pair, clusters);
  __syncthreads();
  for (std::int32_t first = begin; first < leaf.nodes;
       first += static_cast<std::int32_t>(gridDim.y * ask_threads)) {
    const std::int32_t n = first + static_cast<std::int32_t>(threadIdx.x);
    const bool is_node = n < leaf.nodes;
    const std::uint64_t node = leaf.node + static_cast<std::uint64_t>(is_node ? n : 0);
    const std::uint32_t bits = __ballot_sync(~0u, receivers.open(trees.core[node], is_node));
    if (threadIdx.x % 32 == 0 && is_node) opened[(pair.node + static_cast<std::uint64_t>(n)) / 32] = bits;
  }
}

/// One block per pair: descends the tree level by level through nodes that are opened. marks: `opened` as
/// asked for, and then without nodes to which nothing leads; `selected` cleared.
__global__ void __launch_bounds__(mark_threads)
    mark(const LeafTrees trees, const PairList list, SelectedTree* selected, const LetMarks marks) {
  __shared__ std::int32_t memory[most_in_block];
  __shared__ std::int32_t nodes, particles;
  if (!list.has(blockIdx.x)) return;
  const LetPair pair = list.pairs[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  std::int32_t* const queue = leaf.nodes > most_in_block ? marks.number + pair.node : memory;
  std::uint32_t *const of_opened = marks.opened + pair.node / 32, *const of_selected =
                                                                      marks.selected + pair.node / 32;
  if (threadIdx.x == 0) {
    queue[0] = 0;
    set_bit(of_selected, 0);
    nodes = 1;
    particles = 0;
  }
  __syncthreads();
  for (std::int32_t begin = 0, end = 1; begin < end;) {
    for (std::int32_t i = begin + static_cast<std::int32_t>(threadIdx.x); i < end; i += mark_threads) {
      const std::int32_t n = queue[i];
      if ((of_opened[n / 32] >> (n % 32) & 1) == 0) continue;
      std::int32_t found = 0;
      const Family family = open_node(trees, of_selected, leaf.node + static_cast<std::uint64_t>(n), found);
      if (found > 0) atomicAdd(&particles, found);
      if (family.count == 0) continue;
      const std::int32_t place = atomicAdd(&nodes, family.count);
      for (std::int32_t k = 0; k < family.count; ++k) queue[place + k] = family.first + k;
    }
    __syncthreads();
    begin = end;
    end = nodes;
    __syncthreads();
  }
  for (auto word = static_cast<std::int32_t>(threadIdx.x); word < (leaf.nodes + 31) / 32;
       word += mark_threads)
    of_opened[word] &= __ldcg(of_selected + word);
  if (threadIdx.x == 0) selected[blockIdx.x] = {pair.leaf, pair.slot, nodes, particles};
}

}  // namespace

LetSelection::LetSelection(const LeafTrees& trees, std::int32_t largest_tree, const LetReceivers& receivers,
                           LetNumbers& room)
    : largest_tree_(largest_tree) {
  if (trees.count == 0 || receivers.to.set_count == 0) return;
  const auto search = [&] {
    const LetPairs pairs = find_let_pairs(trees, receivers, room);
    mark_all(trees, pairs, receivers, room);
    return pairs.download();
  };
  LetPairs::OnHost found = search();
  if (!room.has_room_for(found.found)) {
    if (found.found.receivers > LetPair::most_receivers)
      throw std::length_error("too many leaves on ranks in reach of each other: more ranks are needed");
    room = found.found.more();
    found = search();
  } else if (room.is_wasted_on(found.found)) {
    room = found.found.more();
  }
  opened_ = {words_of_slot(receivers), std::move(found.opened)};
  pairs_ = std::move(found.pairs);
  const std::vector<SelectedTree>& by_pair = found.selected;
  pair_of_.resize(by_pair.size());
  std::iota(pair_of_.begin(), pair_of_.end(), 0u);
  std::sort(pair_of_.begin(), pair_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(by_pair[a].slot, by_pair[a].leaf) < std::tie(by_pair[b].slot, by_pair[b].leaf);
  });
  for (const std::uint32_t pair : pair_of_) selected_.push_back(by_pair[pair]);
}

/// Marks what is selected of each pair, and how much that is.
void LetSelection::mark_all(const LeafTrees& trees, const LetPairs& found, const LetReceivers& receivers,
                            const LetNumbers& room) {
  const unsigned pairs = room.pairs;
  if (pairs == 0) return;
  selected_bits_ = DeviceArray<std::uint32_t>(room.nodes / 32);
  opened_bits_ = DeviceArray<std::uint32_t>(room.nodes / 32);
  if (largest_tree_ > most_in_block) number_ = DeviceArray<std::int32_t>(room.nodes);
  selected_bits_.clear();
  const PairList list{found.pairs(), found.receivers(), found.found(), room};
  const unsigned most = blocks_for(static_cast<std::uint64_t>(largest_tree_), ask_threads);
  ask<<<dim3(pairs, std::min(most, std::max(1u, enough_blocks / pairs))), ask_threads, 0, stream()>>>(
      trees, receivers, list, opened_bits_.data());
  mark<<<pairs, mark_threads, 0, stream()>>>(trees, list, found.selected(), marks());
  launched("Grove::cuda::mark", 0, 2);
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
