#include "kernels/cuda/walk.hpp"

#include <stdexcept>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/softening_table.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int batch = 32;
constexpr int buckets_per_batch = batch / bucket_size;
/// Nodes to be tested that a warp keeps in shared memory. More than that, the oldest of them, go to global
/// memory in portions.
constexpr int stack_size = 512, portion = 256;
constexpr int most_spilled = 8 * portion;

/// A node in one word: of the top tree, or leaf and node in its tree.
constexpr std::uint32_t of_top = 1u << 31;
constexpr int node_bits = 10;
static_assert(local_cells(4096) <= 1 << node_bits);
GROVE_HOST_DEVICE constexpr std::uint32_t code_of(std::int32_t leaf, std::int32_t node) {
  return static_cast<std::uint32_t>(leaf) << node_bits | static_cast<std::uint32_t>(node);
}

enum class Fault : int { none, opened_pruned, stack_full };

struct WalkRule {
  double per_length;               ///< from units of the run to walk units
  double acceleration, potential;  ///< from walk units to units of the run
};

/// Totals and the way from block to block.
struct WalkState {
  unsigned long long cell, particle, tests;
  std::uint32_t next_group;
  int fault;
};

struct WarpMemory {
  float4 staged[3][batch];
  float scale[batch];
  std::uint32_t stack[stack_size];
  std::uint32_t cells[2 * batch], buckets[2 * batch];
};

/// Softening scale of a source; and how far from the box of its targets softening matters.
GROVE_HOST_DEVICE inline float scale_of(Plummer, float length) { return length * length; }
GROVE_HOST_DEVICE inline float scale_of(Spline, float length) {
  const float radius = static_cast<float>(spline_radius_over_softening) * length;
  return radius * radius;
}

/// A group of targets, a lane each, and all that acts on it in one pass.
template <Order order, class Shape, bool own>
class GroupWalk {
 public:
  __device__ GroupWalk(const WalkRule& rule, const WalkSources& sources, const WalkTargets& targets,
                       WarpMemory& memory, std::uint32_t* spill)
      : rule_(rule), from_(sources), to_(targets), m_(memory), spill_(spill) {}

  __device__ Fault run(std::uint32_t g, const WalkOutput& output) {
    load(g);
    start();
    Fault fault = Fault::none;
    while (size_ > 0 || spilled_ > 0) {
      fault = test();
      if (fault != Fault::none) return fault;
      if (cells_ >= batch) sum_cells(batch);
      while (buckets_ >= buckets_per_batch) sum_buckets(buckets_per_batch);
    }
    if (cells_ > 0) sum_cells(cells_);
    if (buckets_ > 0) sum_buckets(buckets_);
    if (own) sum_within();
    store(output);
    return fault;
  }

  std::uint32_t tests = 0, cell = 0, particle = 0;  ///< of the group; interactions per target

  __device__ int count() const { return group_.count; }

 private:
  __device__ void load(std::uint32_t g) {
    const std::uint32_t leaf = to_.leaf_of_group[g];
    group_ = to_.trees.groups[g];
    leaf_ = to_.first_leaf + static_cast<std::int32_t>(leaf);
    origin_ = to_.trees.origin[leaf];
    first_ = to_.trees.leaves[leaf].first + static_cast<std::uint64_t>(group_.first);
    const std::uint64_t p = first_ + static_cast<std::uint64_t>(min(lane_, group_.count - 1));
    const SourceParticle target = to_.trees.sources[p];
    position_ = target.position;
    mass_ = target.mass;
    scale_ = scale_of(Shape{}, larger(to_.trees.softening[p], least_softening));
    pull_ = {{0, 0, 0}, 0};
    size_ = spilled_ = cells_ = buckets_ = 0;
    tests = cell = particle = 0;
  }

  __device__ void start() {
    size_ = 1;
    if (lane_ == 0) m_.stack[0] = own ? code_of(leaf_, 0) : of_top;
    __syncwarp();
  }

  struct Place {
    Vec3f shift;  ///< from the frame of the source's leaf to that of the target's
    std::uint32_t node, particle;
  };
  __device__ Place place_of(std::uint32_t code) const {
    const SourceLeaf& leaf = from_.leaves[code >> node_bits];
    return {((leaf.origin - origin_) * rule_.per_length).as<float>(),
            leaf.node + (code & ((1u << node_bits) - 1)), leaf.particle};
  }
  __device__ Vec3f top_centre(std::uint32_t node) const {
    return ((from_.top.centre[node] - origin_) * rule_.per_length).as<float>();
  }

  /// Tests up to 32 nodes from the top of the stack.
  __device__ Fault test() {
    if (size_ == 0) restore();
    const int count = min(size_, batch);
    size_ -= count;
    bool accepted = false, is_bucket = false, is_inner = false, is_pruned = false;
    std::uint32_t code = 0, child = 0;
    if (lane_ < count) {
      code = m_.stack[size_ + lane_];
      if (code & of_top)
        test_top(code & ~of_top, code, child, accepted, is_bucket, is_inner, is_pruned);
      else
        test_node(code, child, accepted, is_bucket, is_inner, is_pruned);
    }
    tests += static_cast<std::uint32_t>(count);
    __syncwarp();
    if (__any_sync(~0u, is_pruned)) return Fault::opened_pruned;
    append(m_.cells, cells_, accepted, code);
    append(m_.buckets, buckets_, is_bucket, code);
    const unsigned inner = __ballot_sync(~0u, is_inner);
    if (size_ + 2 * batch > stack_size && !spill()) return Fault::stack_full;
    if (is_inner) {
      const int place = size_ + 2 * __popc(inner & before_);
      m_.stack[place] = child;
      m_.stack[place + 1] = child + 1;
    }
    size_ += 2 * __popc(inner);
    __syncwarp();
    return Fault::none;
  }

  __device__ void test_node(std::uint32_t code, std::uint32_t& child, bool& accepted, bool& is_bucket,
                            bool& is_inner, bool& is_pruned) const {
    const Place place = place_of(code);
    const NodeCore core = from_.core[place.node];
    const float distance2 = group_.bounds.distance2(core.centre + place.shift);
    accepted = accepts(core, distance2, group_.bounds.strictness, 0);
    if (!accepted) open(code, place.node, child, is_bucket, is_inner, is_pruned);
  }

  /// What becomes of a node of a leaf's tree that is not accepted.
  __device__ void open(std::uint32_t code, std::uint32_t node, std::uint32_t& child, bool& is_bucket,
                       bool& is_inner, bool& is_pruned) const {
    const NodeLinks links = from_.links[node];
    if (links.child >= 0) {
      is_inner = true;
      child = (code >> node_bits << node_bits) | static_cast<std::uint32_t>(links.child);
    } else if (links.child == NodeLinks::bucket) {
      // What the group does to itself is summed apart.
      is_bucket = !own || links.first < group_.first || links.first >= group_.first + group_.count;
    } else {
      is_pruned = true;
    }
  }

  /// Of the top tree: whatever holds the target is opened, and its own leaf left out.
  __device__ void test_top(std::uint32_t node, std::uint32_t& code, std::uint32_t& child, bool& accepted,
                           bool& is_bucket, bool& is_inner, bool& is_pruned) const {
    const TopLinks links = from_.top.links[node];
    const bool holds = leaf_ >= links.first_leaf && leaf_ < links.first_leaf + links.leaves;
    if (holds && links.child < 0) return;
    const NodeCore core = from_.top.core[node];
    const float distance2 = group_.bounds.distance2(top_centre(node));
    accepted = !holds && accepts(core, distance2, group_.bounds.strictness, 0);
    if (accepted) return;
    if (links.child >= 0) {
      is_inner = true;
      child = of_top | static_cast<std::uint32_t>(links.child);
      return;
    }
    code = code_of(links.first_leaf, 0);
    open(code, from_.leaves[links.first_leaf].node, child, is_bucket, is_inner, is_pruned);
  }

  __device__ void append(std::uint32_t* list, int& size, bool which, std::uint32_t code) const {
    const unsigned votes = __ballot_sync(~0u, which);
    if (which) list[size + __popc(votes & before_)] = code;
    size += __popc(votes);
  }

  /// Makes room by moving the oldest entries away.
  __device__ bool spill() {
    if (spilled_ + portion > most_spilled) return false;
    for (int i = lane_; i < portion; i += 32) spill_[spilled_ + i] = m_.stack[i];
    __syncwarp();
    static_assert(stack_size <= 2 * portion);  // what stays does not overlap where it goes
    for (int i = lane_; i < size_ - portion; i += 32) m_.stack[i] = m_.stack[i + portion];
    spilled_ += portion;
    size_ -= portion;
    __syncwarp();
    return true;
  }

  __device__ void restore() {
    spilled_ -= portion;
    size_ = portion;
    for (int i = lane_; i < portion; i += 32) m_.stack[i] = spill_[spilled_ + i];
    __syncwarp();
  }

  /// The last cells of the list.
  __device__ void sum_cells(int count) {
    cells_ -= count;
    bool is_near = false;
    if (lane_ < count) is_near = stage_cell(m_.cells[cells_ + lane_]);
    const bool any_near = __any_sync(~0u, is_near);
    cell += static_cast<std::uint32_t>(count);
    if (any_near)
      for (int j = 0; j < count; ++j) add_cell(Shape{}, j);
    else if (count == batch)
#pragma unroll 4
      for (int j = 0; j < batch; ++j) add_cell(Newton{}, j);
    else
      for (int j = 0; j < count; ++j) add_cell(Newton{}, j);
    __syncwarp();
  }

  /// Returns whether softening may matter.
  __device__ bool stage_cell(std::uint32_t code) {
    const bool is_top = code & of_top;
    const std::uint32_t top_node = code & ~of_top;
    Vec3f centre;
    NodeCore core;
    NodeMoments moments;
    if (is_top) {
      centre = top_centre(top_node);
      core = from_.top.core[top_node];
      moments = from_.top.moments[top_node];
    } else {
      const Place place = place_of(code);
      core = from_.core[place.node];
      centre = core.centre + place.shift;
      moments = from_.moments[place.node];
    }
    constexpr float least2 = least_softening * least_softening;
    const float softening = larger(std::abs(core.softening), least_softening);
    const CellSource s =
        CellSource::of(centre, core.mass, moments, softening, larger(moments.softening2, least2));
    m_.staged[0][lane_] = {s.centre.x, s.centre.y, s.centre.z, s.mass};
    m_.staged[1][lane_] = {s.xx, s.yy, s.zz, s.xy};
    m_.staged[2][lane_] = {s.xz, s.yz, s.trace, cell_scale(Shape{}, s)};
    return is_near(Shape{}, centre, softening);
  }

  GROVE_HOST_DEVICE static float cell_scale(Plummer, const CellSource& s) { return s.softening2; }
  GROVE_HOST_DEVICE static float cell_scale(Spline, const CellSource& s) {
    return scale_of(Spline{}, s.softening);
  }

  /// Plummer softening has no end.
  __device__ bool is_near(Plummer, const Vec3f&, float) const { return true; }
  __device__ bool is_near(Spline, const Vec3f& place, float softening) const {
    const float scale =
        scale_of(Spline{}, larger(softening, larger(group_.bounds.softening, least_softening)));
    return !(group_.bounds.distance2(place) > scale * (1 + leaf_margin));
  }

  template <class Softening>
  __device__ void add_cell(Softening softening, int j) {
    const float4 a = m_.staged[0][j], b = m_.staged[1][j], c = m_.staged[2][j];
    const Vec3f d = Vec3f{a.x, a.y, a.z} - position_;
    const float scale = pair_scale(softening, scale_, c.w);
    if constexpr (order == Order::quadrupole) {
      const CellSource s{{a.x, a.y, a.z}, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, 0, 0};
      add_quadrupole(softening, d, s, scale, pull_);
    } else {
      add_particle(softening, d, a.w, scale, pull_);
    }
  }

  /// The last buckets of the list, at most four.
  __device__ void sum_buckets(int count) {
    buckets_ -= count;
    const int bucket = lane_ / bucket_size, i = lane_ % bucket_size;
    int particles = 0;
    bool is_near = false;
    constexpr float far = 1e15F;  // where nothing is; without mass
    float4 staged{far, far, far, 0};
    float scale = 1;
    if (bucket < count) {
      const Place place = place_of(m_.buckets[buckets_ + bucket]);
      const NodeLinks links = from_.links[place.node];
      if (i == 0) particles = links.count;
      if (i < links.count) {
        const std::uint32_t p = place.particle + static_cast<std::uint32_t>(links.first + i);
        const SourceParticle source = from_.particles[p];
        const Vec3f position = source.position + place.shift;
        const float softening = larger(from_.softening[p], least_softening);
        staged = {position.x, position.y, position.z, source.mass};
        scale = scale_of(Shape{}, softening);
        is_near = this->is_near(Shape{}, position, softening);
      }
    }
    m_.staged[0][lane_] = staged;
    m_.scale[lane_] = scale;
    particle += __reduce_add_sync(~0u, static_cast<unsigned>(particles));
    if (__any_sync(~0u, is_near))
#pragma unroll 2
      for (int j = 0; j < batch; ++j) add_source(Shape{}, m_.staged[0][j], m_.scale[j]);
    else
#pragma unroll 8
      for (int j = 0; j < batch; ++j) add_source(Newton{}, m_.staged[0][j], 0);
    __syncwarp();
  }

  template <class Softening>
  __device__ void add_source(Softening softening, const float4& source, float scale) {
    add_particle(softening, Vec3f{source.x, source.y, source.z} - position_, source.w,
                 pair_scale(softening, scale_, scale), pull_);
  }

  /// What the particles of the group do to each other; to themselves nothing.
  __device__ void sum_within() {
    for (int k = 0; k < group_.count; ++k) {
      Vec3f d{__shfl_sync(~0u, position_.x, k), __shfl_sync(~0u, position_.y, k),
              __shfl_sync(~0u, position_.z, k)};
      d -= position_;
      float mass = __shfl_sync(~0u, mass_, k);
      const float scale = __shfl_sync(~0u, scale_, k);
      if (k == lane_) d.x = 1, mass = 0;
      add_particle(Shape{}, d, mass, pair_scale(Shape{}, scale_, scale), pull_);
    }
    particle += static_cast<std::uint32_t>(group_.count);
  }

  __device__ void store(const WalkOutput& out) const {
    if (lane_ >= group_.count) return;
    const std::uint64_t p = first_ + static_cast<std::uint64_t>(lane_);
    const Vec3f a = (pull_.acceleration.template as<double>() * rule_.acceleration).template as<float>();
    const auto potential = static_cast<float>(-rule_.potential * pull_.potential);
    if (own) {
      out.acceleration[p] = a;
      out.potential[p] = potential;
      out.work[p] = cell + particle;
    } else {
      out.acceleration[p] += a;
      out.potential[p] += potential;
      out.work[p] += cell + particle;
    }
  }

  const WalkRule& rule_;
  const WalkSources& from_;
  const WalkTargets& to_;
  WarpMemory& m_;
  std::uint32_t* spill_;
  const int lane_ = static_cast<int>(threadIdx.x % 32);
  const unsigned before_ = (1u << (threadIdx.x % 32)) - 1;  ///< the lanes before this one

  Group group_;
  std::int32_t leaf_;  ///< number in the ORB
  Vec3d origin_;
  std::uint64_t first_;  ///< its first particle
  Vec3f position_;       ///< of this lane's target, and the next likewise
  float mass_, scale_;
  Pull<float> pull_;
  int size_, spilled_, cells_, buckets_;  ///< of the stack, what is not in shared memory, the lists
};

template <Order order, class Shape, bool own>
__global__ void __launch_bounds__(threads)
    walk(const WalkRule rule, const WalkSources sources, const WalkTargets targets, const WalkOutput output,
         std::uint32_t* spill, WalkState* state) {
  __shared__ WarpMemory memory[warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GroupWalk<order, Shape, own> group(
      rule, sources, targets, memory[warp],
      spill + static_cast<std::size_t>(blockIdx.x * warps + warp) * most_spilled);
  unsigned long long cell = 0, particle = 0, tests = 0;
  while (true) {
    std::uint32_t g = 0;
    if (lane == 0) g = atomicAdd(&state->next_group, 1u);
    g = __shfl_sync(~0u, g, 0);
    if (g >= targets.groups) break;
    const Fault fault = group.run(g, output);
    if (fault != Fault::none) {
      if (lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
      break;
    }
    cell += static_cast<std::uint64_t>(group.cell) * static_cast<std::uint64_t>(group.count());
    particle += static_cast<std::uint64_t>(group.particle) * static_cast<std::uint64_t>(group.count());
    tests += group.tests;
  }
  if (lane != 0) return;
  atomicAdd(&state->cell, cell);
  atomicAdd(&state->particle, particle);
  atomicAdd(&state->tests, tests);
}

template <Order order, class Shape, bool own>
void launch(const WalkRule& rule, const WalkSources& sources, const WalkTargets& targets,
            const WalkOutput& output, WalkState* state) {
  int device = 0, processors = 0, blocks = 0;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  GROVE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk<order, Shape, own>, threads, 0));
  const int grid = processors * blocks;
  const DeviceArray<std::uint32_t> spill(static_cast<std::size_t>(grid) * warps * most_spilled);
  walk<order, Shape, own><<<grid, threads>>>(rule, sources, targets, output, spill.data(), state);
  launched("Grove::cuda::walk");
}

template <bool own>
WalkCounts run(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
               const WalkTargets& targets, const WalkOutput& output) {
  if (targets.groups == 0) return {};
  const double potential = gravity.gravitational_constant * units.mass / units.length;
  const WalkRule rule{1 / units.length, potential / units.length, potential};
  DeviceArray<WalkState> state(1);
  state.clear();
  const bool has_spline = gravity.kernel == SofteningKernel::spline;
  const auto by_kind =
      gravity.order == Order::quadrupole
          ? (has_spline ? launch<Order::quadrupole, Spline, own> : launch<Order::quadrupole, Plummer, own>)
          : (has_spline ? launch<Order::monopole, Spline, own> : launch<Order::monopole, Plummer, own>);
  by_kind(rule, sources, targets, output, state.data());
  WalkState result;
  state.download(std::span(&result, 1));
  if (result.fault == static_cast<int>(Fault::opened_pruned))
    throw std::logic_error("walk: a group opens what was not sent for it");
  if (result.fault == static_cast<int>(Fault::stack_full))
    throw std::logic_error("walk: a tree is deeper than the stack of a group");
  return {static_cast<std::int64_t>(result.cell), static_cast<std::int64_t>(result.particle),
          static_cast<std::int64_t>(result.tests)};
}

}  // namespace

WalkCounts walk_own(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                    const WalkTargets& targets, const WalkOutput& output) {
  return run<true>(gravity, units, sources, targets, output);
}

WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const WalkOutput& output) {
  return run<false>(gravity, units, sources, targets, output);
}

}  // namespace grove::cuda
