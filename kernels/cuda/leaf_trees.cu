#include "kernels/cuda/leaf_trees.hpp"

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/leaf_bisection.hpp"
#include "kernels/cuda/leaf_update.cuh"
#include "kernels/math/moments.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 512;
constexpr int most_buckets = most_in_leaf / bucket_size;
constexpr int most_nodes = local_cells(most_in_leaf);

/// Working memory of a block.
struct Shared {
  MomentSum
      sum[most_buckets];  ///< of a node, at its first bucket: what is done takes the place of its left child
  Vec3f centre[most_nodes];
  unsigned radius2[most_nodes];  ///< the bits of a float that is not negative, which sort as it does
  int arrivals[most_nodes];      ///< children that are done
  std::int16_t parent[most_nodes];
  std::int16_t bucket_node[most_buckets];
  Vec3d origin;
};

/// The tree of one leaf. All pointers are to its own part.
struct LeafUpdate {
  const UpdateRule& rule;
  Shared& s;
  std::int32_t count, nodes;
  const NodeLinks* links;
  const SourceParticle* sources;
  const float* softening;
  NodeCore* core;
  NodeMoments* moments;

  __device__ void find_parents() const {
    for (std::int32_t n = threadIdx.x; n < nodes; n += threads) {
      const NodeLinks link = links[n];
      s.radius2[n] = 0;
      s.arrivals[n] = 0;
      if (n == 0) s.parent[0] = -1;
      if (link.child >= 0)
        s.parent[link.child] = s.parent[link.child + 1] = static_cast<std::int16_t>(n);
      else
        s.bucket_node[link.first / bucket_size] = static_cast<std::int16_t>(n);
    }
  }

  /// A thread begins at each bucket; of two that meet the second one goes on with their parent, after a
  /// barrier behind what the first one has stored. All threads of the block.
  __device__ void combine() const {
    static_assert(most_buckets <= threads);
    const auto b = static_cast<std::int32_t>(threadIdx.x);
    bool goes_on = b < (count + bucket_size - 1) / bucket_size;
    std::int32_t n = goes_on ? s.bucket_node[b] : 0;
    if (goes_on) {
      const NodeLinks link = links[n];
      s.sum[b] = bucket_moments(sources + link.first, softening + link.first, link.count);
      store(n, s.sum[b]);
    }
    while (__syncthreads_or(goes_on)) {
      if (!goes_on) continue;
      n = s.parent[n];
      goes_on = n >= 0 && atomicAdd(&s.arrivals[n], 1) == 1;
      if (!goes_on) continue;
      const std::int32_t child = links[n].child;
      MomentSum& left = s.sum[links[child].first / bucket_size];
      left = left + s.sum[links[child + 1].first / bucket_size];
      store(n, left);
    }
  }

  __device__ void store(std::int32_t n, const MomentSum& sum) const {
    core[n] = node_core(sum);
    moments[n] = node_moments(sum);
    s.centre[n] = core[n].centre;
  }

  /// Of every node, the largest distance of a particle from its centre. Above the groups all lanes of a warp
  /// have the same nodes, inside them those of a bucket.
  __device__ void find_radii() const {
    static_assert(group_size == 32);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const unsigned of_bucket = ((1u << bucket_size) - 1) << (lane / bucket_size * bucket_size);
    for (std::int32_t first = static_cast<std::int32_t>(threadIdx.x) - lane; first < count;
         first += threads) {
      const std::int32_t i = min(first + lane, count - 1), group_count = min(group_size, count - first);
      const Vec3f position = sources[i].position;
      std::int32_t n = s.bucket_node[i / bucket_size];
      for (; links[n].count < group_count; n = s.parent[n]) {
        const unsigned bits = __reduce_max_sync(of_bucket, distance2_bits(position, n));
        if (lane % bucket_size == 0) atomicMax(&s.radius2[n], bits);
      }
      __syncwarp();
      for (; n >= 0; n = s.parent[n]) {
        const unsigned bits = __reduce_max_sync(~0u, distance2_bits(position, n));
        if (lane == 0) atomicMax(&s.radius2[n], bits);
      }
    }
  }

  __device__ unsigned distance2_bits(const Vec3f& position, std::int32_t n) const {
    return __float_as_uint(norm2(position - s.centre[n]));
  }

  /// Leaves the longest side of each node's tight box in reach2, and in power how far the middle of the box
  /// is from the centre of mass. A warp per node.
  __device__ void find_edges() const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    for (std::int32_t n = static_cast<std::int32_t>(threadIdx.x / 32); n < nodes; n += threads / 32) {
      const NodeLinks link = links[n];
      TargetBounds box = no_bounds();
      for (std::int32_t i = link.first + lane; i < link.first + link.count; i += 32)
        widen(box, sources[i].position, sources[i].position, 0, 0);
      box = warp_union(box);
      const Vec3f side = box.high - box.low;
      if (lane == 0) {
        core[n].reach2 = fmaxf(side.x, fmaxf(side.y, side.z));
        core[n].power = norm(s.centre[n] - (box.low + box.high) * 0.5F);
      }
    }
  }

  __device__ void prepare() const {
    constexpr float round_up = 1 + 1e-6F;
    for (std::int32_t n = threadIdx.x; n < nodes; n += threads) {
      NodeCore node = core[n];
      node.radius = std::sqrt(__uint_as_float(s.radius2[n])) * round_up;
      const NodeMoments m = moments[n];
      rule.acceptance.prepare(node, node.reach2, node.power, m.xx + m.yy + m.zz);
      core[n] = node;
    }
  }
};

__global__ void __launch_bounds__(threads, 2)
    update(const UpdateRule rule, const LeafParticleFields particles, const LeafTrees trees) {
  extern __shared__ __align__(16) std::byte memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  TargetBounds bounds = no_bounds();
  if (leaf.count == 0) {
    if (threadIdx.x == 0) trees.origin[blockIdx.x] = {0, 0, 0}, trees.bounds[blockIdx.x] = bounds;
    return;
  }
  if (threadIdx.x < 32) {
    const Vec3d origin = find_origin(particles.position + leaf.first, leaf.count);
    if (threadIdx.x == 0) trees.origin[blockIdx.x] = s.origin = origin;
  }
  const LeafUpdate tree{rule,
                        s,
                        leaf.count,
                        leaf.nodes,
                        trees.links + leaf.node,
                        trees.sources + leaf.first,
                        trees.softening + leaf.first,
                        trees.core + leaf.node,
                        trees.moments + leaf.node};
  tree.find_parents();
  __syncthreads();
  const SourceBody source = source_body(rule, s.origin, particles, trees, leaf);
  for (std::int32_t i = threadIdx.x; i < leaf.count; i += threads) source(static_cast<std::size_t>(i));
  __syncthreads();
  tree.combine();

  const GroupBody group{rule.acceptance,
                        rule.per_acceleration,
                        leaf.count,
                        tree.sources,
                        tree.softening,
                        particles.old_acceleration + leaf.first,
                        trees.groups + leaf.group};
  const std::int32_t groups = (leaf.count + group_size - 1) / group_size;
  for (std::int32_t g = threadIdx.x; g < groups; g += threads) group(static_cast<std::size_t>(g));
  __syncthreads();
  if (threadIdx.x < 32) {
    for (std::int32_t g = threadIdx.x; g < groups; g += 32) {
      const TargetBounds& b = group.groups[g].bounds;
      widen(bounds, b.low, b.high, b.strictness, b.softening);
    }
    bounds = warp_union(bounds);
    if (threadIdx.x == 0) trees.bounds[blockIdx.x] = bounds;
  }
  tree.find_radii();
  if (rule.acceptance.criterion == Criterion::opening_edge) tree.find_edges();
  __syncthreads();
  tree.prepare();
}

}  // namespace

void update_leaves(const LeafParticleFields& particles, const GravityParameters& gravity,
                   const WalkUnits& units, double median_acceleration, const LeafTrees& trees) {
  if (trees.count == 0) return;
  const UpdateRule rule = UpdateRule::of(gravity, units, median_acceleration);
  GROVE_CUDA(cudaFuncSetAttribute(update, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  update<<<trees.count, threads, sizeof(Shared)>>>(rule, particles, trees);
  launched("Grove::cuda::update_leaves");
}

}  // namespace grove::cuda
