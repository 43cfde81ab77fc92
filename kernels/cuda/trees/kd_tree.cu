#include "kernels/cuda/trees/kd_tree.hpp"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/trees/kd_large.cuh"
#include "kernels/cuda/trees/kd_small.cuh"
#include "kernels/cuda/trees/kd_view.cuh"

namespace grove::cuda {
namespace {

constexpr int small_warps = 4;  ///< of a block

__global__ void __launch_bounds__(32 * small_warps) grow_small(const __grid_constant__ KdView v) {
  __shared__ KdSmallMemory memory[small_warps];
  const std::uint32_t warp = threadIdx.x / 32, number = blockIdx.x * small_warps + warp;
  if (number >= v.sizes->small) return;
  KdSmallTree(v, v.small[number], memory[warp]).grow();
}

/// The cuts of a node whose particles are at one place, halved by number; they are in order. A thread per
/// particle.
__global__ void __launch_bounds__(threads) halve(const KdView v, const KdNode node) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= node.count) return;
  std::uint32_t first = 0, count = node.count, before = node.before;
  if (i > 0) v.cut[node.first + i].end = 0;
  while (count > v.bucket) {
    const std::uint32_t left = count / 2;
    if (i == first + left)
      v.cut[node.first + i] = {node.first + first, node.first + first + count, node.leaf, before};
    if (i < first + left) {
      count = left;
      ++before;
    } else {
      first += left;
      count -= left;
      before = 0;
    }
  }
  v.divided[node.first + i] = i == first ? before : 0;
}

__global__ void __launch_bounds__(threads) gather_ids(const KdView v, const KdNode node, ParticleId* ids) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= node.count) return;
  const std::uint32_t index = v.columns[node.columns].at[3][node.first + i];
  ids[i] = v.from.ids ? v.from.ids[index] : index;
}

/// [leaves + 1] nodes that are divided before the leaf.
__global__ void __launch_bounds__(threads) divided_before(const KdView v, std::uint32_t* sums) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf <= v.from.leaves) sums[leaf] = v.divided[v.from.begin[leaf]];
}

/// Links of nodes.
struct KdLinks {
  KdView v;
  const std::uint32_t* node_begin;  ///< [leaves + 1]
  NodeLinks* links;

  /// The left child of the node that begins here, of which `before` others are larger: its number in its
  /// leaf.
  __device__ std::int32_t child_of(std::uint32_t leaf_first, std::uint32_t first,
                                   std::uint32_t before) const {
    return static_cast<std::int32_t>(1 + 2 * (v.divided[first] - v.divided[leaf_first] + before));
  }
  __device__ std::int32_t child_of(std::uint32_t leaf_first, std::uint32_t first, std::uint32_t count,
                                   std::uint32_t before) const {
    return count > v.bucket ? child_of(leaf_first, first, before) : NodeLinks::bucket;
  }
};

__global__ void __launch_bounds__(threads) link_roots(const KdLinks to) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf >= to.v.from.leaves) return;
  const std::uint32_t first = to.v.from.begin[leaf], count = to.v.from.begin[leaf + 1] - first;
  if (count > 0)
    to.links[to.node_begin[leaf]] = {to.child_of(first, first, count, 0), -1, 0,
                                     static_cast<std::int32_t>(count)};
}

/// Both children of every cut. Behind the right one a walk goes on with the largest node that begins there,
/// which is on the right of another cut.
__global__ void __launch_bounds__(threads) link_children(const KdLinks to) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= to.v.from.count) return;
  const KdCut cut = to.v.cut[place];
  if (cut.end == 0) return;
  const std::uint32_t leaf_first = to.v.from.begin[cut.leaf], leaf_end = to.v.from.begin[cut.leaf + 1];
  const std::int32_t left = to.child_of(leaf_first, cut.first, cut.before);
  std::int32_t next = -1;
  if (cut.end < leaf_end) {
    const KdCut other = to.v.cut[cut.end];
    next = to.child_of(leaf_first, other.first, other.before) + 1;
  }
  const std::uint32_t left_count = place - cut.first, right_count = cut.end - place;
  NodeLinks* const links = to.links + to.node_begin[cut.leaf] + left;
  links[0] = {to.child_of(leaf_first, cut.first, left_count, cut.before + 1), left + 1,
              static_cast<std::int32_t>(cut.first - leaf_first), static_cast<std::int32_t>(left_count)};
  links[1] = {to.child_of(leaf_first, place, right_count, 0), next,
              static_cast<std::int32_t>(place - leaf_first), static_cast<std::int32_t>(right_count)};
}

}  // namespace

struct KdTreeBuilder::Memory {
  KdSplit split;
  std::uint32_t bucket;
  int depth = 12;  ///< levels of large nodes that the last trees had
  std::uint32_t most_small = 0;

  DeviceArray<std::uint32_t> leaf_begin, columns[2][4], divided, node_begin, sums;
  DeviceArray<KdPartition> boxes, partition[2];
  DeviceArray<KdNode> node[2], small, coincident;
  DeviceArray<KdPiece> piece[2];
  DeviceArray<KdSizes> sizes{1};
  DeviceArray<KdCut> cut;
  DeviceArray<ParticleId> ids[2];
  DeviceArray<std::byte> scratch;

  Memory(KdSplit cut_split, std::int32_t largest_bucket)
      : split(cut_split), bucket(static_cast<std::uint32_t>(largest_bucket)) {}

  void reserve(std::uint32_t leaves, std::uint32_t count) {
    // Nodes of a level have no particle in common.
    const std::size_t large = count / kd_large + 1;
    for (int i = 0; i < 2; ++i) {
      for (auto& column : columns[i]) column.reserve(count);
      node[i].reserve(large);
      partition[i].reserve(large);
      piece[i].reserve(count / kd_piece + large);
    }
    coincident.reserve(large);
    boxes.reserve(leaves);
    cut.reserve(count);
    divided.reserve(std::size_t{count} + 1);
    sums.reserve(leaves + std::size_t{1});
    node_begin.reserve(leaves + std::size_t{1});
    most_small = std::max(most_small, count / 16 + leaves + 64);
  }

  KdView view(std::span<const Count> begin, const KdParticles& particles, std::uint32_t* order) {
    KdView v{};
    v.from = {leaf_begin.data(), static_cast<std::uint32_t>(begin.size() - 1),
              static_cast<std::uint32_t>(begin.back()), columns_of(particles.records), particles.id};
    v.mass = particles.mass;
    v.split = split;
    v.bucket = bucket;
    v.columns[0] = v.from.columns;
    for (int i = 0; i < 2; ++i) {
      for (int c = 0; c < 4; ++c) v.columns[i + 1].at[c] = columns[i][c].data();
      v.node[i] = node[i].data();
      v.partition[i] = partition[i].data();
      v.piece[i] = piece[i].data();
    }
    v.coincident = coincident.data();
    v.sizes = sizes.data();
    v.cut = cut.data();
    v.divided = divided.data();
    v.order = order;
    return v;
  }

  /// Cuts all large nodes. Returns the lengths of the lists of what is left.
  KdSizes cut_large(KdView& v) {
    const std::uint32_t leaves = v.from.leaves, count = v.from.count;
    const dim3 of_leaves(leaves, std::max(1U, std::min(enough_blocks, blocks_for(count)) / leaves));
    const unsigned of_pieces = std::min(enough_blocks, blocks_for(count, kd_piece)),
                   of_nodes = std::min(enough_blocks, blocks_for(count / kd_large + 1, warps));
    for (;;) {
      small.reserve(most_small);
      v.small = small.data();
      v.most_small = most_small;
      sizes.clear();
      empty_boxes<<<blocks_for(leaves), threads>>>(leaves, boxes.data());
      bound_leaves<<<of_leaves, threads>>>(v, boxes.data());
      start<<<blocks_for(leaves, warps), threads>>>(v, boxes.data());
      launched("Grove::cuda::start_kd", 0, 3);
      KdSizes found{};
      for (int level = 0, end = depth;; end = level + 4) {
        unsigned kernels = 0;
        for (; level < std::min(end, kd_levels); ++level, kernels += 2) {
          part_large<<<of_pieces, threads>>>(v, level);
          plan_next<<<of_nodes, threads>>>(v, level);
        }
        launched("Grove::cuda::cut_kd_large", std::uint64_t{32} * count, kernels);
        sizes.download(std::span(&found, 1));
        if (found.nodes[level] == 0) break;
      }
      depth = 0;
      while (found.nodes[depth] > 0) ++depth;
      if (found.small <= most_small) return found;
      most_small = found.small + found.small / 4;
    }
  }

  /// A large node whose particles are at one place.
  void halve_by_number(const KdView& v, const KdNode& large) {
    for (auto& array : ids) array.reserve(large.count);
    gather_ids<<<blocks_for(large.count), threads>>>(v, large, ids[0].data());
    const auto sort = [&](void* memory, std::size_t& bytes) {
      GROVE_CUDA(cub::DeviceRadixSort::SortPairs(memory, bytes, ids[0].data(), ids[1].data(),
                                                 v.columns[large.columns].at[3] + large.first,
                                                 v.order + large.first, static_cast<int>(large.count)));
    };
    std::size_t bytes = 0;
    sort(nullptr, bytes);
    scratch.reserve(bytes);
    sort(scratch.data(), bytes);
    halve<<<blocks_for(large.count), threads>>>(v, large);
    launched("Grove::cuda::halve_by_number", std::uint64_t{64} * large.count,
             2 + kernels_of_sort(8 * sizeof(ParticleId)));
  }

  void grow_rest(const KdView& v, const KdSizes& found) {
    if (found.small > 0) {
      grow_small<<<blocks_for(found.small, small_warps), 32 * small_warps>>>(v);
      launched("Grove::cuda::grow_small_nodes", std::uint64_t{40} * v.from.count);
    }
    std::vector<KdNode> at_one_place(found.coincident);
    device_download(at_one_place.data(), v.coincident, at_one_place.size() * sizeof(KdNode));
    for (const KdNode& large : at_one_place) halve_by_number(v, large);
  }

  /// Running sums of the nodes that are divided. Returns the first node of each leaf.
  std::vector<Count> number_nodes(const KdView& v, std::span<const Count> begin) {
    device_clear(v.divided + v.from.count, sizeof(std::uint32_t));
    const std::uint32_t count = v.from.count + 1;
    std::size_t bytes = 0;
    GROVE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, v.divided, v.divided, count));
    scratch.reserve(bytes);
    GROVE_CUDA(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, v.divided, v.divided, count));
    divided_before<<<blocks_for(begin.size()), threads>>>(v, sums.data());
    launched("Grove::cuda::number_kd_nodes", std::uint64_t{8} * count, kernels_of_pass + 1);
    std::vector<std::uint32_t> before(begin.size());
    device_download(before.data(), sums.data(), before.size() * sizeof(std::uint32_t));
    std::vector<Count> first{0};
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
      first.push_back(first.back() +
                      (begin[i] < begin[i + 1] ? 1 + 2 * Count{before[i + 1] - before[i]} : 0));
    return first;
  }

  void link(const KdView& v, const std::vector<Count>& first, NodeLinks* links) {
    const std::vector<std::uint32_t> narrow(first.begin(), first.end());
    node_begin.upload(narrow);
    const KdLinks to{v, node_begin.data(), links};
    link_roots<<<blocks_for(v.from.leaves), threads>>>(to);
    link_children<<<blocks_for(v.from.count), threads>>>(to);
    launched("Grove::cuda::link_kd_nodes",
             std::uint64_t{16} * static_cast<std::uint64_t>(first.back()) + std::uint64_t{24} * v.from.count,
             2);
  }
};

KdTreeBuilder::KdTreeBuilder(KdSplit split, std::int32_t bucket)
    : memory_(std::make_unique<Memory>(split, bucket)) {}
KdTreeBuilder::~KdTreeBuilder() = default;

std::vector<Count> KdTreeBuilder::build(std::span<const Count> leaf_begin, const KdParticles& particles,
                                        std::uint32_t* order, DeviceArray<NodeLinks>& links) {
  Memory& m = *memory_;
  if (leaf_begin.back() == 0) return std::vector<Count>(leaf_begin.size(), 0);
  const std::vector<std::uint32_t> begin(leaf_begin.begin(), leaf_begin.end());
  m.leaf_begin.reserve(begin.size());
  m.leaf_begin.upload(begin);
  m.reserve(static_cast<std::uint32_t>(begin.size() - 1), begin.back());
  KdView v = m.view(leaf_begin, particles, order);
  const KdSizes found = m.cut_large(v);
  m.grow_rest(v, found);
  std::vector<Count> node_begin = m.number_nodes(v, leaf_begin);
  links.reserve(static_cast<std::size_t>(node_begin.back()));
  m.link(v, node_begin, links.data());
  return node_begin;
}

void KdTreeBuilder::release() {
  const Memory& old = *memory_;
  auto fresh = std::make_unique<Memory>(old.split, static_cast<std::int32_t>(old.bucket));
  fresh->depth = old.depth;
  fresh->most_small = old.most_small;
  memory_ = std::move(fresh);
}

}  // namespace grove::cuda
