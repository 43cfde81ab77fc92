#pragma once

#include <cstring>

#include "kernels/cuda/trees/node_stack.cuh"
#include "kernels/cuda/walk/target_sums.cuh"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/leaf_bodies.hpp"

namespace grove::cuda {

enum class Fault : int { none, opened_pruned, stack_full };

/// Data that are read once from many places, in loads of 16 bytes. The compiler would leave out what is not
/// needed, at the price of more loads.
template <class T>
__device__ inline T load_whole(const T* from) {
  static_assert(sizeof(T) % sizeof(int4) == 0 && alignof(T) >= sizeof(int4));
  int4 parts[sizeof(T) / sizeof(int4)];
  for (std::size_t i = 0; i < sizeof(T) / sizeof(int4); ++i)
    parts[i] = __ldg(reinterpret_cast<const int4*>(from) + i);
  T whole;
  memcpy(&whole, parts, sizeof(T));
  return whole;
}

struct WarpMemory {
  StagedBatch batch;
  std::uint32_t stack[NodeStack::size];
  std::uint32_t cells[2 * batch_size], buckets[2 * batch_size];
  std::uint32_t active[2];  ///< Group::active of the group, and of the one that joins it
};

/// Which of the parts, a power of two of them, among which the sources of a group are split.
struct WalkPart {
  int number, parts;
};

/// Adds what acts on particle p to the output, or begins with it.
template <bool own>
__device__ inline void put_force(const ForceUnits& units, const Accumulator<float>& sum, std::uint32_t work,
                                 std::uint32_t p, const ForceOutput& out) {
  const Vec3f a = units.acceleration_of(sum.acceleration);
  const float potential = units.potential_of(sum.potential);
  if (own)
    out.set(p, a, potential, work);
  else
    out.add(p, a, potential, work);
}

/// True if a stack may spill. In the pass through the own leaf's bisection it cannot: no node is below
/// another one on the stack, so each has a bucket of its own.
GROVE_HOST_DEVICE constexpr bool may_spill_nodes(bool own, LocalTreeKind kind) {
  static_assert(most_in_leaf / bucket_size <= NodeStack::size);
  return !own || kind == LocalTreeKind::octree;
}

/// A group of targets, and all that acts on it in one pass, or, split, a part of that; in the leaves are
/// trees of this kind. targets_per_warp: group_size, or two groups of so many walk as one.
template <Order order, class Shape, bool own, LocalTreeKind kind, int targets_per_warp = group_size,
          bool split = false>
class GroupWalk {
 public:
  __device__ GroupWalk(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                       WarpMemory& memory, std::uint32_t* spill)
      : units_(units),
        from_(sources),
        to_(targets),
        m_(memory),
        stack_(memory.stack, spill),
        sums_(memory.batch) {}

  /// number: of the group among those to be walked. Nothing is to be done for one that walks with the group
  /// before it.
  __device__ Fault run(std::uint32_t number, const ForceOutput& output) {
    tests = cell = particle = 0;
    const std::uint32_t g = to_.active ? to_.active[number] : number;
    if (targets_per_warp > group_size && to_.trees.groups[g].first % targets_per_warp != 0)
      return Fault::none;
    load(g);
    const Fault fault = sum_sources();
    if (fault == Fault::none) store(output);
    return fault;
  }
  /// Sums this part, which total() then is. All parts test the same nodes until there are enough to go round.
  __device__ Fault run_part(std::uint32_t number, const WalkPart& part) {
    tests = cell = particle = 0;
    part_ = part;
    load(to_.active ? to_.active[number] : number);
    return sum_sources();
  }
  __device__ Accumulator<float> total() const { return sums_.total(0); }

  /// Counts of the group; interactions per target. Tests that all parts make count once.
  std::uint32_t tests = 0, cell = 0, particle = 0;

  /// The instructions of the group, see grove::group_instructions().
  __device__ unsigned long long instructions() const {
    return static_cast<unsigned long long>(group_instructions(cell, particle, tests));
  }

  /// The particles of the group that get forces.
  __device__ int count() const {
    return __popc(m_.active[0]) + (targets_per_warp > group_size ? __popc(m_.active[1]) : 0);
  }

 private:
  static constexpr bool is_octree = kind == LocalTreeKind::octree;
  static constexpr int buckets_per_batch = batch_size / bucket_size;
  static constexpr bool may_spill = may_spill_nodes(own, kind);

  __device__ Fault sum_sources() {
    bool opened_pruned = false;
    is_divided_ = !split;
    for (bool more = true; more;) {
      if (split && !is_divided_ && stack_.holds(enough_nodes(part_.parts))) divide();
      if (!stack_.is_empty() && !test(opened_pruned)) return Fault::stack_full;
      more = !stack_.is_empty();
      while (cells_ >= (more ? batch_size : 1)) sum_cells(min(cells_, batch_size));
      if constexpr (is_octree)
        while (more ? waiting_ >= batch_size : buckets_ > 0) sum_full_batch();
      else
        while (buckets_ >= (more ? buckets_per_batch : 1)) sum_buckets(min(buckets_, buckets_per_batch));
    }
    if (__any_sync(~0u, opened_pruned)) return Fault::opened_pruned;
    if (own && is_last_part()) sum_within();
    return Fault::none;
  }

  /// With which the parts begin. Few nodes may hold most of the work; until there are so many, all parts test
  /// the same.
  __device__ static int enough_nodes(int parts) { return max(2 * parts, min(8 * parts, 32)); }
  __device__ void divide() {
    stack_.keep(part_.number, part_.parts);
    is_divided_ = true;
  }
  /// True if what this lane finds is for this part to sum.
  __device__ bool is_own_find() const { return !split || is_divided_ || lane_ % part_.parts == part_.number; }
  __device__ bool is_first_part() const { return !split || part_.number == 0; }
  __device__ bool is_last_part() const { return !split || part_.number == part_.parts - 1; }

  __device__ NodeCodes codes() const {
    if constexpr (is_octree)
      return from_.codes;
    else
      return bisection_codes;
  }

  __device__ void load(std::uint32_t g) {
    const std::uint32_t leaf = to_.leaf_of_group[g];
    group_ = to_.trees.groups[g];
    leaf_ = to_.first_leaf + static_cast<std::int32_t>(leaf);
    const LeafPlaces& places = to_.trees.leaves[leaf];
    std::uint32_t joined = 0;
    if (targets_per_warp > group_size && group_.first + group_size < places.count)
      joined = join(to_.trees.groups[g + 1]);
    __syncwarp();
    if (lane_ == 0) m_.active[0] = group_.active, m_.active[1] = joined;
    __syncwarp();
    if constexpr (own)
      frame_.node = static_cast<std::uint32_t>(places.node),
      frame_.particle = static_cast<std::uint32_t>(places.first);
    else
      frame_ = from_.nodes[0].frames[leaf_];
    first_ = static_cast<std::uint32_t>(places.first) + static_cast<std::uint32_t>(group_.first);
    sums_.load(to_.trees.sources + first_, to_.trees.softening + first_, group_.count);
    start();
    cells_ = buckets_ = waiting_ = 0;
  }

  /// The next one of the leaf joins the group, or takes its place, as far as they are active. Returns who is
  /// in the one that has joined.
  __device__ std::uint32_t join(const Group& next) {
    if (next.active == 0) return 0;
    if (group_.active == 0) {
      group_ = next;
      return 0;
    }
    widen(group_.bounds, next.bounds.low, next.bounds.high, next.bounds.inverse_tolerance,
          next.bounds.softening);
    group_.count += next.count;
    return next.active;
  }

  __device__ void start() {
    if constexpr (own) {
      stack_.start(codes().root_of(leaf_));
    } else {
      const std::uint32_t* const first = from_.first_beginning + leaf_;
      stack_.start(from_.beginnings + first[0], static_cast<int>(first[1] - first[0]));
    }
  }

  /// The place of a node. In the own leaf all have the frame of the targets.
  struct Place {
    Vec3f shift;  ///< from the node's frame to that of the targets
    std::uint32_t node, particle;
    bool is_top;
  };
  __device__ Place place_of(std::uint32_t code) const {
    if constexpr (own) return {{0, 0, 0}, frame_.node + codes().node(code), frame_.particle, false};
    const bool is_top = code & of_top;
    const SourceFrame frame = load_whole(from_.nodes[is_top].frames + codes().frame(code));
    return {shift_between(frame, frame_), frame.node + codes().node(code), frame.particle, is_top};
  }
  __device__ static Vec3f moved(const Vec3f& p, const Place& place) {
    if constexpr (own) return p;
    return p + place.shift;
  }

  /// Tests up to 32 nodes from the top of the stack; cells above the leaves like all others. Returns false if
  /// the stack is full.
  __device__ bool test(bool& opened_pruned) {
    int count = 0;
    const std::uint32_t code = stack_.pop(count, is_octree ? stack_.most_with_families() : 32);
    const Place place = place_of(code);
    const NodeCore core = load_whole(from_.nodes[place.is_top].core + place.node);
    const NodeLinks links = load_whole(from_.nodes[place.is_top].links + place.node);
    int children = 2;
    if (is_octree && !place.is_top) children = from_.children[place.node];
    const float distance2 = group_.bounds.distance2(moved(core.centre, place));
    const bool active = lane_ < count;
    const bool accepted = active && accepts(core, distance2, group_.bounds.inverse_tolerance, 0);
    const bool opened = active && !accepted, is_inner = opened && (place.is_top || links.child >= 0);
    opened_pruned |= opened && !is_inner && links.child == NodeLinks::pruned;
    if (is_divided_ || is_first_part()) tests += static_cast<std::uint32_t>(count);
    append(m_.cells, cells_, accepted && is_own_find(), code);
    const bool is_source = opened && !is_inner && !is_within(links) && is_own_find();
    append(m_.buckets, buckets_, is_source, code);
    if (is_octree) waiting_ += __reduce_add_sync(~0u, is_source ? links.count : 0);
    const auto child = static_cast<std::uint32_t>(links.child);
    const std::uint32_t left = place.is_top ? child : codes().beside(code, child);
    const std::uint32_t right = place.is_top ? static_cast<std::uint32_t>(links.next) : left + 1;
    if constexpr (is_octree)
      return stack_.push_families(left, right, is_inner ? children : 0);
    else
      return stack_.push<may_spill>(is_inner, left, right);
  }

  /// True if a bucket is of the group; what that does to itself is summed apart.
  __device__ bool is_within(const NodeLinks& links) const {
    return own &&
           static_cast<std::uint32_t>(links.first - group_.first) < static_cast<std::uint32_t>(group_.count);
  }

  __device__ void append(std::uint32_t* list, int& size, bool which, std::uint32_t code) const {
    const unsigned votes = __ballot_sync(~0u, which);
    if (which) list[size + __popc(votes & lanes_before())] = code;
    size += __popc(votes);
  }

  /// The last cells of the list.
  __device__ void sum_cells(int count) {
    cells_ -= count;
    const Place place = place_of(m_.cells[cells_ + min(lane_, count - 1)]);
    const NodeCore core = from_.nodes[place.is_top].core[place.node];
    const NodeMoments moments = from_.nodes[place.is_top].moments[place.node];
    cell += static_cast<std::uint32_t>(count);
    sums_.add_cells(sums_.stage_cell(lane_ < count, moved(core.centre, place), core, moments, group_.bounds));
  }

  /// The last buckets of the list, at most four.
  __device__ void sum_buckets(int count) {
    buckets_ -= count;
    const int bucket = lane_ / bucket_size, i = lane_ % bucket_size;
    const Place place = place_of(m_.buckets[buckets_ + min(bucket, count - 1)]);
    const NodeLinks links = from_.nodes[0].links[place.node];
    const bool exists = bucket < count && i < links.count;
    const std::uint32_t p =
        place.particle + static_cast<std::uint32_t>(links.first + min(i, links.count - 1));
    const SourceParticle source = from_.particles[p];
    particle += static_cast<std::uint32_t>(__popc(__ballot_sync(~0u, exists)));
    sums_.add_particles(sums_.stage_particle(exists, moved(source.position, place), source.mass,
                                             from_.softening[p], group_.bounds));
  }

  /// The last buckets of the list, as many as a batch holds: those of octrees are far from full.
  __device__ void sum_full_batch() {
    const Place place = place_of(m_.buckets[buckets_ - 1 - min(lane_, buckets_ - 1)]);
    const NodeLinks links = from_.nodes[0].links[place.node];
    const int count = lane_ < buckets_ ? links.count : batch_size + 1;
    const int end = inclusive_sum(count), begin = end - count;
    const bool is_taken = end <= batch_size;
    const int taken = __popc(__ballot_sync(~0u, is_taken)), all = __shfl_sync(~0u, end, taken - 1);
    buckets_ -= taken;
    waiting_ -= all;
    // Lane i takes the i-th particle, from the last bucket that begins with it or before.
    const unsigned begins = __reduce_or_sync(~0u, is_taken ? 1u << begin : 0);
    const int slot = min(lane_, all - 1), bucket = __popc(begins << (31 - slot)) - 1;
    const std::uint32_t first = place.particle + static_cast<std::uint32_t>(links.first - begin);
    const std::uint32_t p = __shfl_sync(~0u, first, bucket) + static_cast<std::uint32_t>(slot);
    const SourceParticle source = from_.particles[p];
    Vec3f position = source.position;
    if constexpr (!own)
      position =
          position + Vec3f{__shfl_sync(~0u, place.shift.x, bucket), __shfl_sync(~0u, place.shift.y, bucket),
                           __shfl_sync(~0u, place.shift.z, bucket)};
    particle += static_cast<std::uint32_t>(all);
    sums_.add_particles(
        sums_.stage_particle(lane_ < all, position, source.mass, from_.softening[p], group_.bounds));
  }

  __device__ void sum_within() {
    sums_.add_within(group_.count, to_.trees.sources + first_);
    particle += static_cast<std::uint32_t>(group_.count);
  }

  __device__ void store(const ForceOutput& out) const {
#pragma unroll
    for (int row = 0; row < targets_per_warp / 32; ++row) {
      const Accumulator<float> sum = sums_.total(row);
      const int i = lane_ + 32 * row;
      if (i < group_.count && m_.active[row] >> lane_ & 1U)
        put_force<own>(units_, sum, cell + particle, first_ + static_cast<std::uint32_t>(i), out);
    }
  }

  const ForceUnits& units_;
  const WalkSources& from_;
  const WalkTargets& to_;
  WarpMemory& m_;
  NodeStack stack_;
  TargetSums<order, Shape, targets_per_warp> sums_;
  const int lane_ = static_cast<int>(threadIdx.x % 32);

  Group group_;
  std::int32_t leaf_;    ///< number in the ORB
  SourceFrame frame_;    ///< of the leaf; in the pass through the own one only what is in it
  std::uint32_t first_;  ///< its first particle
  int cells_, buckets_;  ///< of the lists
  int waiting_;          ///< particles in the buckets of the list, of octrees
  WalkPart part_{0, 1};
  bool is_divided_ = true;  ///< whether the parts go on by themselves
};

}  // namespace grove::cuda
