#include "kernels/cuda/trees/leaf_trees.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/leaf_bisection.hpp"
#include "kernels/cuda/trees/leaf_update.cuh"
#include "kernels/math/moments.hpp"

namespace grove::cuda {
namespace {

constexpr int tree_threads = 512, tree_warps = tree_threads / 32;
constexpr int most_buckets = most_in_leaf / bucket_size;
constexpr int most_nodes = local_cells(most_in_leaf);
constexpr int most_samples = 128;  ///< of positions, for the origin
static_assert(most_buckets == tree_threads && 3 * most_samples <= tree_threads && group_size == 32);

/// Particles by place, buckets apart by one, so that threads which read one bucket each read other banks.
constexpr int staged_bucket = bucket_size + 1;

/// Particles of the buckets of a warp. In a larger node are many of its lanes, or all.
constexpr std::int32_t most_of_small = 32 * bucket_size;

constexpr int doubles_of_sum = sizeof(MomentSum) / sizeof(double);
static_assert(sizeof(MomentSum) % (2 * sizeof(double)) == sizeof(double));

/// Working memory of a block. Nodes and buckets by number in the leaf.
struct UpdateMemory {
  union {
    double sample[3][most_samples];
    SourceParticle staged[most_buckets * staged_bucket];
    double sums[doubles_of_sum * most_buckets + most_buckets / 16];
  };
  Vec3f centre[most_nodes];
  unsigned radius2[most_nodes];  ///< the bits of a float that is not negative, which sort as it does
  int done[most_nodes];          ///< children
  std::int16_t parent[most_nodes];
  std::int16_t child[most_nodes];  ///< the left one
  std::int16_t first[most_nodes];  ///< particle
  bool is_large[most_nodes];       ///< more than most_of_small
  std::int16_t bucket_node[most_buckets];
  /// Nodes whose children are done, of this round and the next. They share no bucket, and have two at least.
  std::int16_t ready[2][most_buckets / 2];
  int ready_count[3];                  ///< of this round, the next and the one behind it, in turn
  TargetBounds bounds[2][tree_warps];  ///< of active groups, and the box of all, by the warp that made them
  Vec3d origin;

  /// The sum of the node that begins with this particle; it takes the place of the sum of its left child. A
  /// double more after every 16 buckets lets lanes that look at neighbouring nodes of up to 16 buckets ask
  /// for other banks.
  __device__ MomentSum& sum_at(std::int32_t first_particle) {
    const std::int32_t bucket = first_particle / bucket_size;
    return *reinterpret_cast<MomentSum*>(sums + doubles_of_sum * bucket + bucket / 16);
  }
};

/// The tree of one leaf. All pointers are to its own part.
struct LeafUpdate {
  const UpdateRule& rule;
  UpdateMemory& s;
  std::int32_t count, nodes;
  const NodeLinks* links;
  const SourceParticle* sources;
  const float* softening;
  NodeCore* core;
  NodeMoments* moments;
  NodeBox* boxes;

  /// Like find_origin(), by all threads of the block: each finds the rank of one element of the sample.
  __device__ void find_origin(const Vec3d* position) const {
    const std::int32_t stride = sample_stride(count), size = (count + stride - 1) / stride;
    const int axis = static_cast<int>(threadIdx.x) / most_samples,
              i = static_cast<int>(threadIdx.x) % most_samples;
    const bool is_element = axis < 3 && i < size;
    const double own = is_element ? position[static_cast<std::int64_t>(i) * stride][axis] : 0;
    if (is_element) s.sample[axis][i] = own;
    __syncthreads();
    std::int32_t rank = 0;
    if (is_element)
      for (std::int32_t j = 0; j < size; ++j) {
        const double its = s.sample[axis][j];
        rank += its < own || (its == own && j < i);
      }
    if (is_element && rank == size / 2) s.origin[axis] = own;
    __syncthreads();
  }

  __device__ void load_links() const {
    if (threadIdx.x < 3) s.ready_count[threadIdx.x] = 0;
#pragma unroll 2
    for (std::int32_t n = threadIdx.x; n < nodes; n += tree_threads) {
      const NodeLinks link = links[n];
      s.radius2[n] = 0;
      s.done[n] = 0;
      s.is_large[n] = link.count > most_of_small;
      s.child[n] = static_cast<std::int16_t>(link.child);
      s.first[n] = static_cast<std::int16_t>(link.first);
      if (n == 0) s.parent[0] = -1;
      if (link.child >= 0)
        s.parent[link.child] = s.parent[link.child + 1] = static_cast<std::int16_t>(n);
      else
        s.bucket_node[link.first / bucket_size] = static_cast<std::int16_t>(n);
    }
  }

  /// The data that a source is made of.
  struct Raw {
    Vec3d position;
    double mass;
    float softening, old_acceleration;
    bool active;

    __device__ Raw(const UpdateRule& rule, const LeafParticleFields& particles, std::uint64_t i)
        : position(particles.position[i]),
          mass(particles.mass[i]),
          softening(rule.softening_of[particles.type[i]]),
          old_acceleration(particles.old_acceleration[i]),
          active(is_active(particles, i)) {}
  };

  /// Asks for the data of this lane's particle in the group that begins with group_first; beyond the end of
  /// the leaf, for those of its last particle.
  __device__ Raw load(const LeafParticleFields& particles, std::uint64_t leaf_first,
                      std::int32_t group_first) const {
    const std::int32_t i = min(group_first + lane_index(), count - 1);
    return {rule, particles, leaf_first + static_cast<std::uint64_t>(i)};
  }
  /// The first particle of the first group of this warp.
  __device__ static std::int32_t first_of_warp() {
    return static_cast<std::int32_t>(threadIdx.x / 32) * group_size;
  }

  /// Sources, staged, too, and groups, with the bounds of those of each warp. A warp per group, a lane per
  /// particle of it; the next group is on its way meanwhile. next: of the first one.
  __device__ void make_groups(const SourceBody& source, const LeafParticleFields& particles,
                              std::uint64_t leaf_first, Raw next, Group* groups) const {
    const int lane = lane_index(), warp = static_cast<int>(threadIdx.x / 32);
    OrderedBounds of_active, of_all;
    for (std::int32_t first = first_of_warp(); first < count; first += tree_threads) {
      const Raw own = next;
      next = load(particles, leaf_first, first + tree_threads);
      const std::int32_t i = first + lane;
      const SourceParticle particle = source.of(own.position, own.mass);
      const OrderedBounds of_group = OrderedBounds::of(particle.position, own.softening).over_warp();
      TargetBounds bounds = of_group.bounds();
      const std::uint32_t active = set_tolerance(rule, own.active && i < count, own.old_acceleration, bounds);
      of_all.add(of_group, 0);
      if (active != 0) of_active.add(of_group, bounds.inverse_tolerance);
      if (lane == 0) groups[first / group_size] = {bounds, first, min(group_size, count - first), active};
      if (i >= count) continue;
      source.sources[i] = s.staged[staged_place(i)] = particle;
      source.softening[i] = own.softening;
    }
    if (lane == 0) s.bounds[0][warp] = of_active.bounds(), s.bounds[1][warp] = of_all.bounds();
  }
  __device__ static std::int32_t staged_place(std::int32_t i) {
    return i / bucket_size * staged_bucket + i % bucket_size;
  }

  /// The bounds of active groups (0), or of all (1). By one warp; every lane gets them.
  __device__ TargetBounds bounds_of(int which) const {
    return warp_union(threadIdx.x % 32 < tree_warps ? s.bounds[which][threadIdx.x % 32] : no_bounds());
  }

  /// A thread per bucket. All threads of the block: sums take the place of what is staged.
  __device__ void sum_buckets() const {
    const auto b = static_cast<std::int32_t>(threadIdx.x);
    MomentSum sum;
    if (has_bucket()) {
      const std::int32_t first = b * bucket_size, size = min(bucket_size, count - first),
                         n = s.bucket_node[b];
      const SourceParticle* const own = s.staged + staged_place(first);
      sum = bucket_moments(own, softening + first, size);
      store(n, sum);
      unsigned radius2 = 0;
      for (std::int32_t i = 0; i < size; ++i)
        radius2 = max(radius2, distance2_bits(own[i].position, s.centre[n]));
      s.radius2[n] = radius2;
    }
    __syncthreads();
    if (has_bucket()) {
      s.sum_at(b * bucket_size) = sum;
      arrive(s.parent[s.bucket_node[b]], 0);
    }
    __syncthreads();
  }

  /// In rounds of the nodes whose children are done, a thread each. All threads of the block.
  __device__ void combine() const {
    for (int round = 0; s.ready_count[round % 3] > 0; ++round) {
      if (threadIdx.x == 0) s.ready_count[(round + 2) % 3] = 0;
      if (static_cast<int>(threadIdx.x) < s.ready_count[round % 3]) {
        const std::int32_t n = s.ready[round % 2][threadIdx.x];
        MomentSum& left = s.sum_at(s.first[n]);
        left = left + s.sum_at(s.first[s.child[n] + 1]);
        store(n, left);
        arrive(s.parent[n], round + 1);
      }
      __syncthreads();
    }
  }
  /// A child of node n is done. If it is the second one, n is listed for a round.
  __device__ void arrive(std::int32_t n, int round) const {
    if (n >= 0 && atomicAdd(&s.done[n], 1) == 1)
      s.ready[round % 2][atomicAdd(&s.ready_count[round % 3], 1)] = static_cast<std::int16_t>(n);
  }

  /// The largest distance of a particle from the centre of every node above the buckets. A thread climbs from
  /// each bucket with its particles.
  __device__ void find_radii() const {
    const auto b = static_cast<std::int32_t>(threadIdx.x);
    Vec3f position[bucket_size];
#pragma unroll
    for (int i = 0; i < bucket_size; ++i) position[i] = sources[min(b * bucket_size + i, count - 1)].position;
    const auto largest_distance2 = [&](const Vec3f& centre) {
      unsigned bits = 0;
#pragma unroll
      for (int i = 0; i < bucket_size; ++i) bits = max(bits, distance2_bits(position[i], centre));
      return bits;
    };
    std::int32_t n = has_bucket() ? s.parent[s.bucket_node[b]] : -1;
    for (; n >= 0 && !s.is_large[n]; n = s.parent[n]) tell_radius(n, largest_distance2(s.centre[n]));
    // The lanes of a warp that are in the same node tell it together, or all would wait for each other.
    for (;;) {
      const std::int32_t deepest = __reduce_max_sync(~0u, n);  // nodes have larger numbers than their parents
      if (deepest < 0) break;
      const unsigned bits = __reduce_max_sync(~0u, n == deepest ? largest_distance2(s.centre[deepest]) : 0);
      if (lane_index() == 0) tell_radius(deepest, bits);
      if (n == deepest) n = s.parent[deepest];
    }
  }
  __device__ void tell_radius(std::int32_t n, unsigned bits) const {
    if (bits > s.radius2[n]) atomicMax(&s.radius2[n], bits);  // the first look spares most of them
  }

  __device__ std::int32_t buckets() const { return (count + bucket_size - 1) / bucket_size; }
  __device__ bool has_bucket() const { return static_cast<std::int32_t>(threadIdx.x) < buckets(); }

  __device__ void store(std::int32_t n, const MomentSum& sum) const {
    const NodeCore node = node_core(sum);
    core[n] = node;
    moments[n] = node_moments(sum);
    s.centre[n] = node.centre;
  }

  __device__ static unsigned distance2_bits(const Vec3f& position, const Vec3f& centre) {
    return __float_as_uint(norm2(position - centre));
  }

  /// Leaves the longest side of each node's tight box in reach2, and in power how far the middle of the box
  /// is from the centre of mass. A warp per node.
  __device__ void find_edges() const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    for (std::int32_t n = static_cast<std::int32_t>(threadIdx.x / 32); n < nodes; n += tree_threads / 32) {
      const NodeLinks link = links[n];
      TargetBounds box = no_bounds();
      for (std::int32_t i = link.first + lane; i < link.first + link.count; i += 32)
        widen(box, sources[i].position, sources[i].position, 0, 0);
      box = warp_union(box);
      const Vec3f side = box.high - box.low;
      if (lane == 0) {
        core[n].reach2 = fmaxf(side.x, fmaxf(side.y, side.z));
        core[n].power = norm(s.centre[n] - (box.low + box.high) * 0.5F);
        if (rule.acceptance.needs_boxes()) boxes[n] = {box.low - s.centre[n], box.high - s.centre[n]};
      }
    }
  }

  __device__ void prepare() const {
    constexpr float round_up = 1 + 1e-6F;
    for (std::int32_t n = threadIdx.x; n < nodes; n += tree_threads) {
      NodeCore node = core[n];
      const NodeMoments m = moments[n];
      node.radius = std::sqrt(__uint_as_float(s.radius2[n])) * round_up;
      rule.acceptance.prepare(node, node.reach2, node.power, m.xx + m.yy + m.zz);
      core[n] = node;
    }
  }
};

__global__ void __launch_bounds__(tree_threads, 2)
    update(const __grid_constant__ UpdateRule rule, const LeafParticleFields particles,
           const LeafTrees trees) {
  extern __shared__ __align__(16) std::byte memory[];
  UpdateMemory& s = *reinterpret_cast<UpdateMemory*>(memory);
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  if (leaf.count == 0) {
    if (threadIdx.x == 0) {
      trees.origin[blockIdx.x] = {0, 0, 0};
      trees.bounds[blockIdx.x] = no_bounds();
      trees.boxes[blockIdx.x] = {no_bounds().low, no_bounds().high};
    }
    return;
  }
  const LeafUpdate tree{rule,
                        s,
                        leaf.count,
                        leaf.nodes,
                        trees.links + leaf.node,
                        trees.sources + leaf.first,
                        trees.softening + leaf.first,
                        trees.core + leaf.node,
                        trees.moments + leaf.node,
                        trees.node_boxes + leaf.node};
  tree.load_links();
  const LeafUpdate::Raw first = tree.load(particles, leaf.first, LeafUpdate::first_of_warp());
  tree.find_origin(particles.position + leaf.first);
  if (threadIdx.x == 0) trees.origin[blockIdx.x] = s.origin;
  tree.make_groups(source_body(rule, s.origin, particles, trees, leaf), particles, leaf.first, first,
                   trees.groups + leaf.group);
  __syncthreads();
  if (threadIdx.x < 32) {
    const TargetBounds bounds = tree.bounds_of(0);
    if (threadIdx.x == 0) trees.bounds[blockIdx.x] = bounds;
  } else if (threadIdx.x < 64) {
    const TargetBounds box = tree.bounds_of(1);
    if (threadIdx.x == 32) trees.boxes[blockIdx.x] = {box.low, box.high};
  }
  tree.sum_buckets();
  tree.combine();
  tree.find_radii();
  if (rule.acceptance.takes_box()) tree.find_edges();
  __syncthreads();
  tree.prepare();
}

}  // namespace

void update_leaves(const LeafParticleFields& particles, const GravityParameters& gravity,
                   const WalkUnits& units, double median_acceleration, const LeafTrees& trees) {
  if (trees.count == 0) return;
  const UpdateRule rule = UpdateRule::of(gravity, units, median_acceleration);
  GROVE_CUDA(cudaFuncSetAttribute(update, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(UpdateMemory)));
  update<<<trees.count, tree_threads, sizeof(UpdateMemory)>>>(rule, particles, trees);
  launched("Grove::cuda::update_leaves");
}

}  // namespace grove::cuda
