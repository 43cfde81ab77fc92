#include "kernels/cuda/let_selection.hpp"

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/leaf_bisection.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int most_nodes = local_cells(most_in_leaf);
constexpr int words = (most_nodes + 31) / 32;  ///< of a bit per node

/// How deep a descent of the top tree may go: a cut halves the longest side of a box of 2^96 places at most.
constexpr int most_depth = 128;

/// Calls hit(leaf) for the leaves of other ranks, ascending, for which the root of own leaf `leaf` may not
/// stand for its particles.
template <class Hit>
__device__ void descend(const LetReceivers& to, std::int32_t leaf, Hit&& hit) {
  const std::int32_t own_begin = to.first_leaf[to.own_rank], own_end = to.first_leaf[to.own_rank + 1];
  const std::uint32_t node = to.top.leaf_cell[own_begin + leaf];
  const Vec3d centre = to.top.centre[node];
  const NodeCore core = to.top.core[node];
  std::int32_t stack[most_depth];
  int size = 1;
  stack[0] = 0;
  while (size > 0) {
    const std::int32_t c = stack[--size];
    const TopLinks links = to.top.links[c];
    const bool own = links.first_leaf >= own_begin && links.first_leaf + links.leaves <= own_end;
    if (own || !to.top.wanted[c].may_open(centre, core, to.unit_length)) continue;
    if (links.child < 0) {
      hit(static_cast<std::uint32_t>(links.first_leaf));
    } else {
      if (size + 2 > most_depth) __trap();
      stack[size++] = links.child + 1;
      stack[size++] = links.child;
    }
  }
}

/// The rank that owns a leaf, not below the given one.
__device__ std::int32_t owner_from(const LetReceivers& to, std::int32_t rank, std::uint32_t leaf) {
  while (static_cast<std::uint32_t>(to.first_leaf[rank + 1]) <= leaf) ++rank;
  return rank;
}

struct Numbers {
  std::uint32_t receivers, pairs;
};
struct AddNumbers {
  __device__ Numbers operator()(const Numbers& a, const Numbers& b) const {
    return {a.receivers + b.receivers, a.pairs + b.pairs};
  }
};

__global__ void __launch_bounds__(threads)
    count_receivers(const LetReceivers to, std::int32_t leaves, Numbers* numbers) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
  if (leaf > leaves) return;
  Numbers found{0, 0};
  std::int32_t rank = 0, last = -1;
  if (leaf < leaves)
    descend(to, leaf, [&](std::uint32_t receiver) {
      rank = owner_from(to, rank, receiver);
      ++found.receivers;
      found.pairs += rank != last;
      last = rank;
    });
  numbers[leaf] = found;
}

__global__ void __launch_bounds__(threads)
    list_receivers(const LetReceivers to, std::int32_t leaves, const Numbers* before,
                   std::uint32_t* receivers, LetPair* pairs) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
  if (leaf >= leaves) return;
  Numbers next = before[leaf];
  std::int32_t rank = 0, last = -1;
  descend(to, leaf, [&](std::uint32_t receiver) {
    rank = owner_from(to, rank, receiver);
    if (rank != last) {
      if (last >= 0) pairs[next.pairs - 1].end = next.receivers;
      pairs[next.pairs++] = {leaf, rank, next.receivers, 0};
      last = rank;
    }
    receivers[next.receivers++] = receiver;
  });
  if (last >= 0) pairs[next.pairs - 1].end = next.receivers;
}

/// By all lanes of a warp: whether one of the receivers may open a node.
__device__ bool is_opened(const LetReceivers& to, const std::uint32_t* receivers, std::uint32_t begin,
                          std::uint32_t end, const SourceFrame& frame, const NodeCore& core) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t r = begin; r < end; r += 32) {
    bool opens = false;
    if (r + lane < end) {
      const std::uint32_t leaf = receivers[r + lane];
      const TargetBounds bounds = to.notices[leaf].bounds;
      const Vec3f shift = shift_between(frame, to.frames[leaf]);
      opens = !accepts(core, bounds.distance2(core.centre + shift), bounds.strictness, selection_margin);
    }
    if (__any_sync(~0u, opens)) return true;
  }
  return false;
}

/// One block per pair: descends the tree level by level, a warp per node.
__global__ void __launch_bounds__(threads)
    mark(const LeafTrees trees, const LetReceivers to, const std::uint32_t* receivers, const LetPair* pairs,
         SelectedTree* selected, std::uint32_t* opened) {
  __shared__ std::int16_t frontier[2][most_nodes];
  __shared__ int size[2];
  __shared__ std::uint32_t bits[words];
  __shared__ int nodes, particles;
  const LetPair pair = pairs[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[pair.leaf];
  const SourceFrame frame = to.frames[to.first_leaf[to.own_rank] + pair.leaf];
  for (int w = static_cast<int>(threadIdx.x); w < words; w += threads) bits[w] = 0;
  if (threadIdx.x == 0) {
    frontier[0][0] = 0;
    size[0] = 1;
    size[1] = 0;
    nodes = 1;
    particles = 0;
  }
  int now = 0;
  for (__syncthreads(); size[now] > 0; now = 1 - now) {
    for (int i = static_cast<int>(threadIdx.x / 32); i < size[now]; i += warps) {
      const std::int32_t n = frontier[now][i];
      const NodeCore core = trees.core[leaf.node + static_cast<std::uint64_t>(n)];
      if (!is_opened(to, receivers, pair.begin, pair.end, frame, core)) continue;
      if (threadIdx.x % 32 != 0) continue;
      atomicOr(&bits[n / 32], 1u << (n % 32));
      const NodeLinks links = trees.links[leaf.node + static_cast<std::uint64_t>(n)];
      if (links.child >= 0) {
        const int place = atomicAdd(&size[1 - now], 2);
        frontier[1 - now][place] = static_cast<std::int16_t>(links.child);
        frontier[1 - now][place + 1] = static_cast<std::int16_t>(links.child + 1);
        atomicAdd(&nodes, 2);
      } else {
        atomicAdd(&particles, links.count);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) size[now] = 0;
    __syncthreads();
  }
  for (int w = static_cast<int>(threadIdx.x); w < words; w += threads)
    opened[static_cast<std::size_t>(blockIdx.x) * words + w] = bits[w];
  if (threadIdx.x == 0) selected[blockIdx.x] = {pair.leaf, pair.rank, nodes, particles};
}

/// Where the parts of a tree go.
struct PackPlaces {
  std::uint64_t node, particle;
  std::uint32_t pair;
  std::int32_t leaf;
};

struct LetPointers {
  NodeCore* core;
  NodeMoments* moments;
  NodeLinks* links;
  SourceParticle* particles;
  float* softening;
};

/// One block per selected tree.
__global__ void __launch_bounds__(threads) pack_tree(const LeafTrees trees, const PackPlaces* places,
                                                     const std::uint32_t* opened, const LetPointers out) {
  constexpr int per_thread = (most_nodes + threads - 1) / threads;
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint8_t is_selected[most_nodes];
  __shared__ std::int16_t number[most_nodes];  ///< of a node among those selected
  const PackPlaces place = places[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[place.leaf];
  const std::uint32_t* const bits = opened + static_cast<std::size_t>(place.pair) * words;
  const NodeLinks* const links = trees.links + leaf.node;
  const auto is_open = [&](int n) { return (bits[n / 32] >> (n % 32) & 1) != 0; };

  for (int n = static_cast<int>(threadIdx.x); n < leaf.nodes; n += threads) is_selected[n] = n == 0;
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < leaf.nodes; n += threads)
    if (is_open(n) && links[n].child >= 0) is_selected[links[n].child] = is_selected[links[n].child + 1] = 1;
  __syncthreads();

  int before[per_thread], before_particles[per_thread];
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int n = static_cast<int>(threadIdx.x) * per_thread + k;
    before[k] = n < leaf.nodes && is_selected[n];
    before_particles[k] = n < leaf.nodes && is_open(n) && links[n].child < 0 ? links[n].count : 0;
  }
  Scan(storage).ExclusiveSum(before, before);
  __syncthreads();
  Scan(storage).ExclusiveSum(before_particles, before_particles);
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int n = static_cast<int>(threadIdx.x) * per_thread + k;
    if (n < leaf.nodes) number[n] = static_cast<std::int16_t>(before[k]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int n = static_cast<int>(threadIdx.x) * per_thread + k;
    if (n >= leaf.nodes || !is_selected[n]) continue;
    const std::uint64_t from = leaf.node + static_cast<std::uint64_t>(n),
                        to = place.node + static_cast<std::uint64_t>(before[k]);
    out.core[to] = trees.core[from];
    out.moments[to] = trees.moments[from];
    NodeLinks link = links[n];
    // What comes next is a sibling of a selected node, or of one above it: selected, too.
    if (link.next >= 0) link.next = number[link.next];
    const int first = link.first;
    link.first = is_open(n) ? before_particles[k] : 0;
    if (!is_open(n))
      link.child = NodeLinks::pruned;
    else if (link.child >= 0)
      link.child = number[link.child];
    else
      for (int i = 0; i < link.count; ++i) {
        const std::uint64_t source = leaf.first + static_cast<std::uint64_t>(first + i),
                            target = place.particle + static_cast<std::uint64_t>(before_particles[k] + i);
        out.particles[target] = trees.sources[source];
        out.softening[target] = trees.softening[source];
      }
    out.links[to] = link;
  }
}

}  // namespace

LetSelection::LetSelection(const LeafTrees& trees, const LetReceivers& receivers)
    : trees_(trees), receivers_(receivers) {
  if (trees.count == 0) return;
  DeviceArray<std::uint32_t> receiving;
  DeviceArray<LetPair> pairs;
  find_receivers(receiving, pairs);
  if (pairs.size() == 0) return;
  const DeviceArray<SelectedTree> selected(pairs.size());
  opened_ = DeviceArray<std::uint32_t>(pairs.size() * words);
  mark<<<static_cast<unsigned>(pairs.size()), threads>>>(trees, receivers, receiving.data(), pairs.data(),
                                                         selected.data(), opened_.data());
  launched("Grove::cuda::mark");
  std::vector<SelectedTree> by_pair(pairs.size());
  selected.download(by_pair);
  pair_of_.resize(by_pair.size());
  std::iota(pair_of_.begin(), pair_of_.end(), 0u);
  std::sort(pair_of_.begin(), pair_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(by_pair[a].rank, by_pair[a].leaf) < std::tie(by_pair[b].rank, by_pair[b].leaf);
  });
  for (const std::uint32_t pair : pair_of_) selected_.push_back(by_pair[pair]);
}

void LetSelection::find_receivers(DeviceArray<std::uint32_t>& receivers, DeviceArray<LetPair>& pairs) const {
  const auto leaves = static_cast<std::int32_t>(trees_.count);
  const auto blocks = (trees_.count + threads) / threads;  // one thread more than there are leaves
  const DeviceArray<Numbers> numbers(trees_.count + 1), before(trees_.count + 1);
  count_receivers<<<blocks, threads>>>(receivers_, leaves, numbers.data());
  launched("Grove::cuda::count_receivers");
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    GROVE_CUDA(cub::DeviceScan::ExclusiveScan(scratch, bytes, numbers.data(), before.data(), AddNumbers{},
                                              Numbers{0, 0}, static_cast<int>(trees_.count) + 1));
  };
  scan(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  scan(scratch.data());
  Numbers all{};
  device_download(&all, before.data() + trees_.count, sizeof(all));
  receivers = DeviceArray<std::uint32_t>(all.receivers);
  pairs = DeviceArray<LetPair>(all.pairs);
  list_receivers<<<blocks, threads>>>(receivers_, leaves, before.data(), receivers.data(), pairs.data());
  launched("Grove::cuda::list_receivers");
}

LetArrays LetSelection::pack() const {
  std::vector<PackPlaces> places;
  std::uint64_t node = 0, particle = 0;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    places.push_back({node, particle, pair_of_[i], selected_[i].leaf});
    node += static_cast<std::uint64_t>(selected_[i].nodes);
    particle += static_cast<std::uint64_t>(selected_[i].particles);
  }
  LetArrays arrays{DeviceArray<NodeCore>(node), DeviceArray<NodeMoments>(node), DeviceArray<NodeLinks>(node),
                   DeviceArray<SourceParticle>(particle), DeviceArray<float>(particle)};
  if (places.empty()) return arrays;
  const DeviceArray<PackPlaces> device_places{std::span<const PackPlaces>(places)};
  pack_tree<<<static_cast<unsigned>(places.size()), threads>>>(
      trees_, device_places.data(), opened_.data(),
      LetPointers{arrays.core.data(), arrays.moments.data(), arrays.links.data(), arrays.particles.data(),
                  arrays.softening.data()});
  launched("Grove::cuda::pack_tree");
  return arrays;
}

}  // namespace grove::cuda
