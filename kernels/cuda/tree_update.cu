#include "kernels/cuda/tree_update.hpp"

#include <algorithm>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/leaf_bounds.hpp"
#include "kernels/cuda/leaf_update.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// What kernels need beside the trees. Nodes by their number among all.
struct TreeUpdate::View {
  std::uint32_t* parent;        ///< [nodes] none: a root
  std::uint32_t* pending;       ///< [nodes] children that are divided and not done
  std::uint32_t* slot;          ///< [nodes] of those that are divided, in the list of these
  Place* divided;               ///< those that are divided, in any order
  Place* starts;                ///< those of them that wait for no other; roots that are buckets
  std::uint32_t* sizes;         ///< [2] of these two lists
  std::uint32_t* radius2;       ///< [nodes] bits of a float that is not negative, which sort as it does
  std::uint32_t* first_bucket;  ///< [groups]
  MomentSum* sums;              ///< by slot
  Extent* extents;              ///< by slot: tight boxes; nullptr: not wanted
};

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int lanes_per_node = 8;
constexpr unsigned most_blocks = 4096;  // enough for any GPU
constexpr std::uint32_t none = ~0U;
static_assert(group_size == 32);

unsigned blocks_for(std::uint64_t items, unsigned per_block = threads) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

/// The last of leaves [low, high) whose nodes, or groups, begin at this place or before; empty leaves have
/// none.
template <std::uint64_t LeafPlaces::*member>
__device__ std::uint32_t leaf_of(const LeafTrees& trees, std::uint32_t place, std::uint32_t low,
                                 std::uint32_t high) {
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (trees.leaves[middle].*member <= place)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The same by all threads of a block, for places between `first` and `last`: few leaves to search.
template <std::uint64_t LeafPlaces::*member>
__device__ std::uint32_t leaf_in_block(const LeafTrees& trees, std::uint32_t place, std::uint32_t first,
                                       std::uint32_t last) {
  __shared__ std::uint32_t ends[2];
  if (threadIdx.x < 2)
    ends[threadIdx.x] = leaf_of<member>(trees, threadIdx.x == 0 ? first : last, 0, trees.count);
  __syncthreads();
  return leaf_of<member>(trees, min(place, last), ends[0], ends[1] + 1);
}

__device__ std::uint32_t warp_index() { return (blockIdx.x * threads + threadIdx.x) / 32; }
__device__ int lane_index() { return static_cast<int>(threadIdx.x % 32); }

__global__ void find_origins(const LeafParticleFields particles, const LeafTrees trees) {
  const std::uint32_t i = warp_index();
  if (i >= trees.count) return;
  const LeafPlaces& leaf = trees.leaves[i];
  const Vec3d origin =
      leaf.count > 0 ? find_origin(particles.position + leaf.first, leaf.count) : Vec3d{0, 0, 0};
  if (lane_index() == 0) trees.origin[i] = origin;
}

/// By all threads, for a warp per group.
__device__ std::uint32_t leaf_of_group(const LeafTrees& trees, std::uint32_t g, std::uint32_t groups) {
  const std::uint32_t first = blockIdx.x * warps;
  return leaf_in_block<&LeafPlaces::group>(trees, g, first, min(first + warps, groups) - 1);
}

/// Sources of a group of particles and its bounds, as GroupBody finds them. A warp per group.
__global__ void __launch_bounds__(threads)
    make_groups(const UpdateRule rule, const LeafParticleFields particles, const LeafTrees trees,
                std::uint32_t groups) {
  const std::uint32_t g = warp_index(), l = leaf_of_group(trees, g, groups);
  if (g >= groups) return;
  const LeafPlaces& leaf = trees.leaves[l];
  const SourceBody source = source_body(rule, trees.origin[l], particles, trees, leaf);
  const auto first = static_cast<std::int32_t>(g - leaf.group) * group_size;
  const std::int32_t i = first + lane_index(), count = min(group_size, leaf.count - first);
  TargetBounds bounds = no_bounds();
  float least = largest_float;
  if (i < leaf.count) {
    source(static_cast<std::size_t>(i));
    const Vec3f position = source.sources[i].position;
    widen(bounds, position, position, 0, source.softening[i]);
    least = particles.old_acceleration[leaf.first + static_cast<std::uint64_t>(i)];
  }
  bounds = warp_union(bounds);
  least = __uint_as_float(__reduce_min_sync(~0U, __float_as_uint(least)));
  bounds.strictness = rule.acceptance.strictness(static_cast<float>(least * rule.per_acceleration));
  if (lane_index() == 0) trees.groups[g] = {bounds, first, count};
}

/// Appends the places of some threads to a list, and tells them where. All threads of a block.
__device__ std::uint32_t append(bool which, const TreeUpdate::Place& place, TreeUpdate::Place* list,
                                std::uint32_t* size) {
  __shared__ std::uint32_t some, before;
  if (threadIdx.x == 0) some = 0;
  __syncthreads();
  const unsigned votes = __ballot_sync(~0U, which);
  std::uint32_t at = 0;
  if (lane_index() == 0) at = atomicAdd(&some, static_cast<std::uint32_t>(__popc(votes)));
  at = __shfl_sync(~0U, at, 0) + static_cast<std::uint32_t>(__popc(votes & ((1U << lane_index()) - 1)));
  __syncthreads();
  if (threadIdx.x == 0) before = atomicAdd(size, some);
  __syncthreads();
  at += before;
  if (which) list[at] = place;
  __syncthreads();
  return at;
}

/// Parents, which children they wait for, and the bucket that each group begins with.
__global__ void __launch_bounds__(threads)
    find_parents(const LeafTrees trees, const TreeUpdate::View v, std::uint32_t nodes) {
  const std::uint32_t first = blockIdx.x * threads, n = first + threadIdx.x;
  const std::uint32_t l = leaf_in_block<&LeafPlaces::node>(trees, n, first, min(first + threads, nodes) - 1);
  bool is_divided = false, is_start = false;
  if (n < nodes) {
    const LeafPlaces& leaf = trees.leaves[l];
    const auto root = static_cast<std::uint32_t>(leaf.node);
    const NodeLinks link = trees.links[n];
    if (n == root) v.parent[n] = none;
    is_divided = link.child != NodeLinks::bucket;
    if (!is_divided && link.first % group_size == 0)
      v.first_bucket[leaf.group + static_cast<std::uint32_t>(link.first / group_size)] = n;
    std::uint32_t children = 0, divided = 0;
    for (bool last = !is_divided; !last; ++children) {
      const std::uint32_t c = root + static_cast<std::uint32_t>(link.child) + children;
      const NodeLinks child = trees.links[c];
      v.parent[c] = n;
      divided += child.child != NodeLinks::bucket;
      last = child.next == link.next;
    }
    trees.children[n] = static_cast<std::uint8_t>(children);
    v.pending[n] = divided;
    v.radius2[n] = 0;
    is_start = is_divided ? divided == 0 : n == root;
  }
  const std::uint32_t slot = append(is_divided, {n, l}, v.divided, &v.sizes[0]);
  if (is_divided) v.slot[n] = slot;
  append(is_start, {n, l}, v.starts, &v.sizes[1]);
}

/// The lanes that work on one node.
__device__ int node_lane() { return static_cast<int>(threadIdx.x % lanes_per_node); }
__device__ unsigned node_mask() {
  return ((1U << lanes_per_node) - 1) << (lane_index() / lanes_per_node * lanes_per_node);
}

/// What is known of the particles of a node.
struct NodeSum {
  MomentSum sum;
  TreeUpdate::Extent extent;

  __device__ void add(const NodeSum& other) {
    sum = sum + other.sum;
    TargetBounds box{extent.low, extent.high, 0, 0};
    widen(box, other.extent.low, other.extent.high, 0, 0);
    extent = {box.low, box.high};
  }
};

__device__ unsigned distance2_bits(const Vec3f& position, const Vec3f& centre) {
  return __float_as_uint(norm2(position - centre));
}

/// Completes a node. radius2: bits.
__device__ void prepare(const AcceptanceRule& rule, NodeCore& node, const NodeMoments& m, unsigned radius2,
                        const TreeUpdate::Extent& extent) {
  constexpr float round_up = 1 + 1e-6F;
  node.radius = std::sqrt(__uint_as_float(radius2)) * round_up;
  const Vec3f side = extent.high - extent.low;
  rule.prepare(node, fmaxf(side.x, fmaxf(side.y, side.z)),
               norm(node.centre - (extent.low + extent.high) * 0.5F), m.xx + m.yy + m.zz);
}

/// Sums of the nodes of one leaf.
struct LeafSums {
  const AcceptanceRule& rule;
  const LeafTrees& trees;
  const TreeUpdate::View& v;
  const LeafPlaces& leaf;
  NodeSum* memory;  ///< [lanes_per_node] shared

  /// Completes the bucket.
  __device__ NodeSum of_bucket(std::uint32_t n, const NodeLinks& link) const {
    const SourceParticle* sources = trees.sources + leaf.first + link.first;
    const MomentSum sum = bucket_moments(sources, trees.softening + leaf.first + link.first, link.count);
    NodeCore core = node_core(sum);
    const NodeMoments moments = node_moments(sum);
    TargetBounds box = no_bounds();
    unsigned radius2 = 0;
    for (std::int32_t i = 0; i < link.count; ++i) {
      const Vec3f position = sources[i].position;
      widen(box, position, position, 0, 0);
      radius2 = max(radius2, distance2_bits(position, core.centre));
    }
    const TreeUpdate::Extent extent{box.low, box.high};
    prepare(rule, core, moments, radius2, extent);
    trees.core[n] = core;
    trees.moments[n] = moments;
    return {sum, extent};
  }

  __device__ NodeSum of_child(std::uint32_t c) const {
    const NodeLinks link = trees.links[c];
    const std::uint32_t slot = v.slot[c];
    if (link.child == NodeLinks::bucket) return of_bucket(c, link);
    return {v.sums[slot], v.extents ? v.extents[slot] : TreeUpdate::Extent{{0, 0, 0}, {0, 0, 0}}};
  }

  /// In memory[0]: of children eight apart a lane's own, then neighbours, then their sums, and so on.
  __device__ void add_children(std::uint32_t first, std::uint32_t children) const {
    const auto lane = static_cast<std::uint32_t>(node_lane());
    for (std::uint32_t c = lane; c < children; c += lanes_per_node) {
      const NodeSum sum = of_child(first + c);
      if (c == lane)
        memory[lane] = sum;
      else
        memory[lane].add(sum);
    }
    for (std::uint32_t step = 1; step < lanes_per_node; step *= 2) {
      __syncwarp(node_mask());
      if (lane % (2 * step) == 0 && lane + step < children) memory[lane].add(memory[lane + step]);
    }
  }

  /// A divided node, complete but for what its radius decides.
  __device__ void store(std::uint32_t n, const NodeSum& s) const {
    trees.core[n] = node_core(s.sum);
    trees.moments[n] = node_moments(s.sum);
    const std::uint32_t slot = v.slot[n];
    v.sums[slot] = s.sum;
    if (v.extents) v.extents[slot] = s.extent;
  }
};

/// Eight lanes begin at each node that waits for no other; of those that meet at a parent the last ones go on
/// with it.
__global__ void __launch_bounds__(threads, 4)
    combine(const AcceptanceRule rule, const LeafTrees trees, const TreeUpdate::View v) {
  __shared__ NodeSum memory[threads];
  const std::uint32_t starts = v.sizes[1], step = gridDim.x * (threads / lanes_per_node);
  for (std::uint32_t i = (blockIdx.x * threads + threadIdx.x) / lanes_per_node; i < starts; i += step) {
    const TreeUpdate::Place start = v.starts[i];
    const LeafPlaces& leaf = trees.leaves[start.leaf];
    const LeafSums sums{rule, trees, v, leaf, memory + threadIdx.x / lanes_per_node * lanes_per_node};
    std::uint32_t n = start.node;
    for (bool goes_on = true; goes_on;) {
      const NodeLinks link = trees.links[n];
      const std::uint32_t children = trees.children[n], parent = v.parent[n];
      if (children == 0) {  // a leaf of one bucket
        if (node_lane() == 0) sums.of_bucket(n, link);
        break;
      }
      sums.add_children(static_cast<std::uint32_t>(leaf.node + link.child), children);
      int is_last = 0;
      if (node_lane() == 0) {
        sums.store(n, sums.memory[0]);
        __threadfence();
        is_last = parent != none && atomicAdd(&v.pending[parent], ~0U) == 1;
        __threadfence();
      }
      __syncwarp(node_mask());
      goes_on = __shfl_sync(node_mask(), is_last, 0, lanes_per_node) != 0;
      n = parent;
    }
  }
}

/// A group's particles for all divided nodes that hold the whole of it. A warp per group.
__global__ void __launch_bounds__(threads)
    find_radii_of_groups(const LeafTrees trees, const TreeUpdate::View v, std::uint32_t groups) {
  const std::uint32_t g = warp_index(), l = leaf_of_group(trees, g, groups);
  if (g >= groups) return;
  const std::int32_t first = trees.groups[g].first, end = first + trees.groups[g].count;
  const std::int32_t i = min(first + lane_index(), end - 1);
  const Vec3f position = trees.sources[trees.leaves[l].first + static_cast<std::uint64_t>(i)].position;
  std::uint32_t n = v.parent[v.first_bucket[g]];
  while (n != none && trees.links[n].first + trees.links[n].count < end) n = v.parent[n];
  for (; n != none; n = v.parent[n]) {
    const unsigned bits = __reduce_max_sync(~0U, distance2_bits(position, trees.core[n].centre));
    // Most groups do not reach farther than others have: then nothing waits for the atomic.
    if (lane_index() == 0 && bits > v.radius2[n]) atomicMax(&v.radius2[n], bits);
  }
}

/// Completes divided nodes, with the particles of groups that are not wholly in the node. Eight lanes each.
__global__ void __launch_bounds__(threads)
    complete(const AcceptanceRule rule, const LeafTrees trees, const TreeUpdate::View v) {
  const std::uint32_t divided = v.sizes[0], step = gridDim.x * (threads / lanes_per_node);
  for (std::uint32_t k = (blockIdx.x * threads + threadIdx.x) / lanes_per_node; k < divided; k += step) {
    const TreeUpdate::Place place = v.divided[k];
    const LeafPlaces& leaf = trees.leaves[place.leaf];
    const SourceParticle* sources = trees.sources + leaf.first;
    const std::uint32_t n = place.node;
    const NodeLinks link = trees.links[n];
    NodeCore node = trees.core[n];
    const std::int32_t end = link.first + link.count, lane = node_lane();
    // The whole groups, the leaf's last one is whole if it ends there.
    std::int32_t skip = (link.first + group_size - 1) / group_size * group_size,
                 go_on = end == leaf.count ? end : end / group_size * group_size;
    if (skip >= go_on) skip = go_on = end;
    unsigned largest = v.radius2[n];
    for (std::int32_t i = link.first + lane; i < skip; i += lanes_per_node)
      largest = max(largest, distance2_bits(sources[i].position, node.centre));
    for (std::int32_t i = go_on + lane; i < end; i += lanes_per_node)
      largest = max(largest, distance2_bits(sources[i].position, node.centre));
    largest = __reduce_max_sync(node_mask(), largest);
    if (lane != 0) continue;
    prepare(rule, node, trees.moments[n], largest,
            v.extents ? v.extents[k] : TreeUpdate::Extent{{0, 0, 0}, {0, 0, 0}});
    trees.core[n] = node;
  }
}

}  // namespace

TreeUpdate::View TreeUpdate::view(bool needs_extents) {
  return {parent_.data(),  pending_.data(),
          slot_.data(),    divided_.data(),
          starts_.data(),  sizes_.data(),
          radius2_.data(), first_bucket_.data(),
          sums_.data(),    needs_extents ? extents_.data() : nullptr};
}

void TreeUpdate::run(const LeafParticleFields& particles, const GravityParameters& gravity,
                     const WalkUnits& units, double median_acceleration, const LeafTrees& trees,
                     std::uint32_t groups, std::uint32_t nodes) {
  if (trees.count == 0) return;
  const UpdateRule rule = UpdateRule::of(gravity, units, median_acceleration);
  const bool needs_extents = rule.acceptance.criterion == Criterion::opening_edge;
  for (auto* of_nodes : {&parent_, &pending_, &radius2_, &slot_}) of_nodes->reserve(nodes);
  const std::size_t most_divided = nodes / 2;  // they have two children at least
  divided_.reserve(most_divided);
  starts_.reserve(most_divided + trees.count);
  sizes_.clear();
  sums_.reserve(most_divided);
  first_bucket_.reserve(groups);
  if (needs_extents) extents_.reserve(most_divided);
  const View v = view(needs_extents);

  find_origins<<<blocks_for(trees.count, warps), threads>>>(particles, trees);
  if (nodes > 0) {
    const unsigned of_groups = blocks_for(groups, warps),
                   of_divided = std::min(most_blocks, blocks_for(nodes));
    make_groups<<<of_groups, threads>>>(rule, particles, trees, groups);
    find_parents<<<blocks_for(nodes), threads>>>(trees, v, nodes);
    combine<<<of_divided, threads>>>(rule.acceptance, trees, v);
    find_radii_of_groups<<<of_groups, threads>>>(trees, v, groups);
    complete<<<of_divided, threads>>>(rule.acceptance, trees, v);
  }
  bound_leaves(trees, groups, parts_);
  launched("Grove::cuda::update_trees");
}

}  // namespace grove::cuda
