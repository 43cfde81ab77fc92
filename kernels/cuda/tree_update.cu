#include "kernels/cuda/tree_update.hpp"

#include <algorithm>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/leaf_update.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// What kernels need beside the trees. Nodes by their number among all.
struct TreeUpdate::View {
  std::uint32_t* parent;        ///< [nodes] none: a root
  std::uint32_t* pending;       ///< [nodes] children that are divided and not done
  std::uint32_t* start;         ///< [nodes] those that wait for no other
  std::uint32_t* starts;        ///< how many
  std::uint32_t* radius2;       ///< [nodes] bits of a float that is not negative, which sort as it does
  std::uint32_t* first_bucket;  ///< [groups]
  MomentSum* sums;              ///< [nodes] of those that are divided
  Extent* extents;              ///< [nodes] tight boxes; nullptr: not wanted
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

/// The last leaf whose nodes, or groups, begin at this one or before; empty leaves have none.
template <std::uint64_t LeafPlaces::*member>
const __device__ LeafPlaces& leaf_of(const LeafTrees& trees, std::uint32_t place) {
  std::uint32_t low = 0, high = trees.count;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (trees.leaves[middle].*member <= place)
      low = middle;
    else
      high = middle;
  }
  return trees.leaves[low];
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

/// Sources of a group of particles and its bounds, as GroupBody finds them. A warp per group.
__global__ void __launch_bounds__(threads)
    make_groups(const UpdateRule rule, const LeafParticleFields particles, const LeafTrees trees,
                std::uint32_t groups) {
  const std::uint32_t g = warp_index();
  if (g >= groups) return;
  const LeafPlaces& leaf = leaf_of<&LeafPlaces::group>(trees, g);
  const SourceBody source = source_body(rule, trees.origin[&leaf - trees.leaves], particles, trees, leaf);
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

/// A block per leaf.
__global__ void __launch_bounds__(threads) bound_leaves(const LeafTrees trees) {
  __shared__ TargetBounds of_warp[warps];
  const LeafPlaces& leaf = trees.leaves[blockIdx.x];
  const Group* groups = trees.groups + leaf.group;
  const std::int32_t count = (leaf.count + group_size - 1) / group_size;
  TargetBounds bounds = no_bounds();
  for (std::int32_t g = static_cast<std::int32_t>(threadIdx.x); g < count; g += threads) {
    const TargetBounds& b = groups[g].bounds;
    widen(bounds, b.low, b.high, b.strictness, b.softening);
  }
  bounds = warp_union(bounds);
  if (lane_index() == 0) of_warp[threadIdx.x / 32] = bounds;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  bounds = warp_union(of_warp[threadIdx.x % warps]);
  if (threadIdx.x == 0) trees.bounds[blockIdx.x] = bounds;
}

/// Parents, which children they wait for, and the bucket that each group begins with.
__global__ void __launch_bounds__(threads)
    find_parents(const LeafTrees trees, const TreeUpdate::View v, std::uint32_t nodes) {
  const std::uint32_t n = blockIdx.x * threads + threadIdx.x;
  if (n >= nodes) return;
  const LeafPlaces& leaf = leaf_of<&LeafPlaces::node>(trees, n);
  const auto root = static_cast<std::uint32_t>(leaf.node);
  const NodeLinks link = trees.links[n];
  if (n == root) v.parent[n] = none;
  const bool is_bucket = link.child == NodeLinks::bucket;
  if (is_bucket && link.first % group_size == 0)
    v.first_bucket[leaf.group + static_cast<std::uint32_t>(link.first / group_size)] = n;
  std::uint32_t children = 0, divided = 0;
  for (bool last = is_bucket; !last; ++children) {
    const std::uint32_t c = root + static_cast<std::uint32_t>(link.child) + children;
    const NodeLinks child = trees.links[c];
    v.parent[c] = n;
    divided += child.child != NodeLinks::bucket;
    last = child.next == link.next;
  }
  trees.children[n] = static_cast<std::uint8_t>(children);
  v.pending[n] = divided;
  if (divided == 0 && (!is_bucket || n == root)) v.start[atomicAdd(v.starts, 1U)] = n;
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

/// Sums of the nodes of one leaf.
struct LeafSums {
  const LeafTrees& trees;
  const TreeUpdate::View& v;
  const LeafPlaces& leaf;
  NodeSum* memory;  ///< [lanes_per_node] shared

  __device__ NodeSum of_bucket(const NodeLinks& link) const {
    const SourceParticle* sources = trees.sources + leaf.first + link.first;
    TargetBounds box = no_bounds();
    for (std::int32_t i = 0; i < link.count; ++i) widen(box, sources[i].position, sources[i].position, 0, 0);
    return {bucket_moments(sources, trees.softening + leaf.first + link.first, link.count),
            {box.low, box.high}};
  }

  __device__ NodeSum of_child(std::uint32_t c) const {
    const NodeLinks link = trees.links[c];
    if (link.child != NodeLinks::bucket)
      return {v.sums[c], v.extents ? v.extents[c] : TreeUpdate::Extent{{0, 0, 0}, {0, 0, 0}}};
    const NodeSum sum = of_bucket(link);
    store(c, sum);
    return sum;
  }

  /// Neighbours are added to each other, then their sums, and so on; the next eight children to all before
  /// them. The result is lane 0's.
  __device__ NodeSum of_children(std::uint32_t first, std::uint32_t children) const {
    const auto lane = static_cast<std::uint32_t>(node_lane());
    NodeSum all{};
    for (std::uint32_t begin = 0; begin < children; begin += lanes_per_node) {
      const std::uint32_t some = min(children - begin, static_cast<std::uint32_t>(lanes_per_node));
      if (lane < some) memory[lane] = of_child(first + begin + lane);
      for (std::uint32_t step = 1; step < lanes_per_node; step *= 2) {
        __syncwarp(node_mask());
        if (lane % (2 * step) == 0 && lane + step < some) memory[lane].add(memory[lane + step]);
      }
      if (lane == 0 && begin == 0) all = memory[0];
      if (lane == 0 && begin > 0) all.add(memory[0]);
      __syncwarp(node_mask());
    }
    return all;
  }

  __device__ void store(std::uint32_t n, const NodeSum& s) const {
    trees.core[n] = node_core(s.sum);
    trees.moments[n] = node_moments(s.sum);
    if (v.extents) v.extents[n] = s.extent;
  }
};

/// Eight lanes begin at each node that waits for no other; of those that meet at a parent the last ones go on
/// with it.
__global__ void __launch_bounds__(threads) combine(const LeafTrees trees, const TreeUpdate::View v) {
  __shared__ NodeSum memory[threads];
  const std::uint32_t starts = *v.starts, step = gridDim.x * (threads / lanes_per_node);
  for (std::uint32_t i = (blockIdx.x * threads + threadIdx.x) / lanes_per_node; i < starts; i += step) {
    std::uint32_t n = v.start[i];
    const LeafPlaces& leaf = leaf_of<&LeafPlaces::node>(trees, n);
    const LeafSums sums{trees, v, leaf, memory + threadIdx.x / lanes_per_node * lanes_per_node};
    for (bool goes_on = true; goes_on;) {
      const NodeLinks link = trees.links[n];
      const std::uint32_t children = trees.children[n], parent = v.parent[n];
      if (children == 0) {  // a leaf of one bucket
        if (node_lane() == 0) sums.store(n, sums.of_bucket(link));
        break;
      }
      const NodeSum sum = sums.of_children(static_cast<std::uint32_t>(leaf.node + link.child), children);
      int is_last = 0;
      if (node_lane() == 0) {
        sums.store(n, sum);
        v.sums[n] = sum.sum;
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

__device__ unsigned distance2_bits(const Vec3f& position, const Vec3f& centre) {
  return __float_as_uint(norm2(position - centre));
}

/// Radii as far as particles of groups go that are not wholly in the node. Eight lanes per node.
__global__ void __launch_bounds__(threads)
    find_radii_of_rests(const LeafTrees trees, const TreeUpdate::View v, std::uint32_t nodes) {
  const std::uint32_t n = (blockIdx.x * threads + threadIdx.x) / lanes_per_node;
  if (n >= nodes) return;
  const LeafPlaces& leaf = leaf_of<&LeafPlaces::node>(trees, n);
  const SourceParticle* sources = trees.sources + leaf.first;
  const NodeLinks link = trees.links[n];
  const std::int32_t end = link.first + link.count;
  // The whole groups, the leaf's last one is whole if it ends there.
  std::int32_t skip = (link.first + group_size - 1) / group_size * group_size,
               go_on = end == leaf.count ? end : end / group_size * group_size;
  if (skip >= go_on) skip = go_on = end;
  const Vec3f centre = trees.core[n].centre;
  const std::int32_t lane = node_lane();
  unsigned largest = 0;
  for (std::int32_t i = link.first + lane; i < skip; i += lanes_per_node)
    largest = max(largest, distance2_bits(sources[i].position, centre));
  for (std::int32_t i = go_on + lane; i < end; i += lanes_per_node)
    largest = max(largest, distance2_bits(sources[i].position, centre));
  largest = __reduce_max_sync(node_mask(), largest);
  if (lane == 0) v.radius2[n] = largest;
}

/// A group's particles for all nodes that hold the whole of it. A warp per group.
__global__ void __launch_bounds__(threads)
    find_radii_of_groups(const LeafTrees trees, const TreeUpdate::View v, std::uint32_t groups) {
  const std::uint32_t g = warp_index();
  if (g >= groups) return;
  const LeafPlaces& leaf = leaf_of<&LeafPlaces::group>(trees, g);
  const std::int32_t first = trees.groups[g].first, end = first + trees.groups[g].count;
  const std::int32_t i = min(first + lane_index(), end - 1);
  const Vec3f position = trees.sources[leaf.first + static_cast<std::uint64_t>(i)].position;
  std::uint32_t n = v.first_bucket[g];
  while (trees.links[n].first + trees.links[n].count < end) n = v.parent[n];
  for (; n != none; n = v.parent[n]) {
    const unsigned bits = __reduce_max_sync(~0U, distance2_bits(position, trees.core[n].centre));
    // Most groups do not reach farther than others have: then nothing waits for the atomic.
    if (lane_index() == 0 && bits > v.radius2[n]) atomicMax(&v.radius2[n], bits);
  }
}

__global__ void __launch_bounds__(threads)
    prepare(const AcceptanceRule rule, const LeafTrees trees, const TreeUpdate::View v, std::uint32_t nodes) {
  constexpr float round_up = 1 + 1e-6F;
  const std::uint32_t n = blockIdx.x * threads + threadIdx.x;
  if (n >= nodes) return;
  NodeCore node = trees.core[n];
  const NodeMoments m = trees.moments[n];
  node.radius = std::sqrt(__uint_as_float(v.radius2[n])) * round_up;
  float edge = 0, offset = 0;
  if (v.extents) {
    const Vec3f low = v.extents[n].low, high = v.extents[n].high, side = high - low;
    edge = fmaxf(side.x, fmaxf(side.y, side.z));
    offset = norm(node.centre - (low + high) * 0.5F);
  }
  rule.prepare(node, edge, offset, m.xx + m.yy + m.zz);
  trees.core[n] = node;
}

}  // namespace

TreeUpdate::View TreeUpdate::view(bool needs_extents) {
  return {parent_.data(),  pending_.data(),      start_.data(), starts_.data(),
          radius2_.data(), first_bucket_.data(), sums_.data(),  needs_extents ? extents_.data() : nullptr};
}

void TreeUpdate::run(const LeafParticleFields& particles, const GravityParameters& gravity,
                     const WalkUnits& units, double median_acceleration, const LeafTrees& trees,
                     std::uint32_t groups, std::uint32_t nodes) {
  if (trees.count == 0) return;
  const UpdateRule rule = UpdateRule::of(gravity, units, median_acceleration);
  const bool needs_extents = rule.acceptance.criterion == Criterion::opening_edge;
  for (auto* of_nodes : {&parent_, &pending_, &start_, &radius2_}) of_nodes->reserve(nodes);
  sums_.reserve(nodes);
  starts_.clear();
  first_bucket_.reserve(groups);
  if (needs_extents) extents_.reserve(nodes);
  const View v = view(needs_extents);

  find_origins<<<blocks_for(trees.count, warps), threads>>>(particles, trees);
  if (nodes > 0) {
    make_groups<<<blocks_for(groups, warps), threads>>>(rule, particles, trees, groups);
    find_parents<<<blocks_for(nodes), threads>>>(trees, v, nodes);
    combine<<<std::min(most_blocks, blocks_for(nodes)), threads>>>(trees, v);
    find_radii_of_rests<<<blocks_for(nodes, threads / lanes_per_node), threads>>>(trees, v, nodes);
    find_radii_of_groups<<<blocks_for(groups, warps), threads>>>(trees, v, groups);
    prepare<<<blocks_for(nodes), threads>>>(rule.acceptance, trees, v, nodes);
  }
  bound_leaves<<<trees.count, threads>>>(trees);
  launched("Grove::cuda::update_trees");
}

}  // namespace grove::cuda
