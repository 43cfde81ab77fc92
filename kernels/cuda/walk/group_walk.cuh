#pragma once

#include "kernels/cuda/walk/group_expansion.cuh"
#include "kernels/cuda/walk/group_targets.cuh"
#include "kernels/cuda/walk/group_trees.cuh"
#include "kernels/cuda/walk/staged_batch.cuh"
#include "kernels/cuda/walk/walk.hpp"

namespace grove::cuda {

/// Errors of a walk. A walk with several reports the last of them in this list.
enum class Fault : int { none, shares_full, opened_pruned, stack_full };

/// Shared memory of a warp.
struct WarpMemory {
  StagedBatch batch;
  std::uint32_t stack[NodeStack::size];
  std::uint32_t cells[SourceList::most], buckets[SourceList::most], expanded[SourceList::most];
  ExpansionMemory expansion;
  std::uint32_t active[2];  ///< of WarpTargets
};

/// Global memory of a warp, for what it seldom reads and writes. None where a pass neither spills nor keeps.
struct WarpStore {
  std::uint32_t spilled[NodeStack::most_spilled];
  KeptSums sums;
};

/// The traversal of trees for a group of targets, by a warp, as described in walk.hpp: the stack of nodes to
/// be tested, and the lists of cells and buckets to be summed, and of cells to be expanded. All else is its
/// policies':
///   Acceptance  which nodes stand for their particles: GroupAcceptance
///   Sums        the force of these and of particles: TargetSums
///   Scope       the pass, which says where it begins, where nodes are, and how sums are put: OwnLeaf,
///               OtherLeaves
///   Trees       codes and children of nodes, and how buckets fill batches: BinaryTrees, AnyTrees
///   Targets     OneGroup, TwoGroups
///   Share       the part of the sources that is this warp's: AllSources, PartOfSources, LimitedShare
template <class Acceptance, class Sums, class Scope, class Trees, class Targets, class Share>
class GroupWalk {
 public:
  __device__ GroupWalk(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                       WarpMemory& memory, WarpStore* store)
      : units_(units),
        from_(sources),
        m_(memory),
        store_(store),
        stack_(memory.stack, store == nullptr ? nullptr : store->spilled),
        sums_(memory.batch),
        targets_(targets),
        scope_(sources),
        expansion_(memory.expansion),
        cells_(memory.cells),
        expanded_(memory.expanded),
        buckets_(memory.buckets) {}

  /// Walks a group and puts its forces. number: among the groups to be walked.
  __device__ Fault run(std::uint32_t number, const Share& share, const ForceOutput& output) {
    counts = {};
    stack_.clear();
    share_ = share;
    const std::uint32_t g = targets_.group(number);
    if (targets_.is_passed_over(g)) return Fault::none;
    begin(g);
    const Fault fault = sum_sources();
    if (fault == Fault::none)
      targets_.template put<Scope, rows>(units_, *this, counts.interactions(), output, m_.active);
    return fault;
  }
  /// Walks with a share of the sources, of which total() then is the sum.
  __device__ Fault run_part(std::uint32_t number, const Share& share) {
    counts = {};
    share_ = share;
    begin(targets_.group(number));
    return sum_sources();
  }

  static constexpr int rows = Sums::rows;
  /// The sum for the target with the number of the lane, or 32 * row more.
  __device__ Accumulator<float> total(int row) const {
    Accumulator<float> sum = sums_.total(row);
    if constexpr (expands) expansion_.add_to(sums_.position(row), sum);
    return sum;
  }

  /// The nodes that are untested when a share ends at its limit.
  const __device__ NodeStack& left() const { return stack_; }

  /// The counts of the group that has been run. Tests that all parts make count once.
  GroupCounts counts;

  /// The targets that get forces.
  __device__ int active_count() const { return targets_.active_count(m_.active); }

  /// True if far cells may be expanded.
  static constexpr bool expands = Sums::has_expansion && !Scope::has_targets;
  /// True if sums are long, so that they are to be kept exactly: what acts from all sides may cancel.
  static constexpr bool keeps = !Scope::has_targets;

 private:
  __device__ void begin(std::uint32_t g) {
    const LeafPlaces& leaf = targets_.load(g, m_.active);
    scope_.enter(leaf, targets_.leaf());
    targets_.begin(sums_);
    if constexpr (expands) expansion_.begin(targets_.bounds(), targets_.expansion_excess());
    share_.start(scope_, Trees::codes(from_), stack_);
    batches_ = 0;
    cells_.clear();
    expanded_.clear();
    buckets_.clear();
  }

  __device__ Fault sum_sources() {
    bool opened_pruned = false;
    for (bool more = true; more;) {
      share_.divide(stack_);
      if (!stack_.is_empty() && !test(opened_pruned)) return Fault::stack_full;
      more = !stack_.is_empty() && !share_.ends(stack_, counts.interactions());
      while (cells_.size() >= (more ? batch_size : 1)) sum_cells(min(cells_.size(), batch_size)), keep();
      if constexpr (expands)
        while (expanded_.size() >= (more ? batch_size : 1)) expand_cells(min(expanded_.size(), batch_size));
      while (buckets_.have_batch(!more)) sum_buckets(), keep();
    }
    if (__any_sync(~0u, opened_pruned)) return Fault::opened_pruned;
    if (Scope::has_targets && share_.has_targets()) sum_within();
    if constexpr (expands) expansion_.end();
    if constexpr (keeps) sums_.end(store_->sums);
    return Fault::none;
  }

  /// To be called behind each batch.
  __device__ void keep() {
    if constexpr (keeps) {
      constexpr int batches_kept = 16;
      if (++batches_ < batches_kept) return;
      batches_ = 0;
      sums_.keep(store_->sums);
    }
  }

  /// Tests up to 32 nodes from the top of the stack; cells above the leaves like all others. Returns false if
  /// the stack is full.
  __device__ bool test(bool& opened_pruned) {
    int count = 0;
    const std::uint32_t code = stack_.pop(count, Trees::most_at_a_time(stack_));
    const NodePlace place = scope_.place_of(Trees::codes(from_), code);
    const NodeCore core = load_whole(from_.nodes[place.is_top].core + place.node);
    const NodeLinks links = load_whole(from_.nodes[place.is_top].links + place.node);
    const int children = Trees::children_of(from_, place);
    const Acceptance acceptance(targets_.bounds());
    const float distance2 = acceptance.distance2(scope_.moved(core.centre, place));
    const bool active = lane_index() < count;
    const bool passes = acceptance.accepts(core, distance2);  // by all lanes: no branch
    const bool is_far = scope_.is_far(Trees::codes(from_), code, place);
    const bool accepted = active && passes && !is_far && !(place.is_top && scope_.expands_far());
    const bool opened = active && !accepted && !is_far,
               is_inner = opened && (place.is_top || links.child >= 0);
    const bool is_bucket = opened && !is_inner && links.child != NodeLinks::pruned;
    opened_pruned |= opened && !is_inner && !is_bucket;
    share_.count_tests(count, counts.tests);
    const bool expanded = expands && expansion_.takes(core, distance2);
    cells_.append(accepted && !expanded && share_.has_find(), code);
    if constexpr (expands) expanded_.append(accepted && expanded && share_.has_find(), code);
    buckets_.append(is_bucket && !is_within(links) && share_.has_find(), code, links.count);
    const auto child = static_cast<std::uint32_t>(links.child);
    const std::uint32_t left = place.is_top ? child : Trees::codes(from_).beside(code, child);
    const std::uint32_t right = place.is_top ? static_cast<std::uint32_t>(links.next) : left + 1;
    return Trees::template push<may_spill_nodes<Scope, Trees>>(is_inner, left, right, children, stack_);
  }

  /// True if a bucket is of the group; what that does to itself is summed apart.
  __device__ bool is_within(const NodeLinks& bucket) const {
    return Scope::has_targets && targets_.hold(bucket);
  }

  /// The cell of a lane, in the frame of the targets.
  struct Cell {
    bool exists;
    Vec3f centre;
    NodeCore core;
    NodeMoments moments;
  };
  /// Takes the last cells of a list.
  __device__ Cell take_cells(SourceList& list, int count) const {
    list.shrink(count);
    const NodePlace place =
        scope_.place_of(Trees::codes(from_), list[list.size() + min(lane_index(), count - 1)]);
    const NodeCore core = from_.nodes[place.is_top].core[place.node];
    return {lane_index() < count, scope_.moved(core.centre, place), core,
            from_.nodes[place.is_top].moments[place.node]};
  }

  __device__ void sum_cells(int count) {
    const Cell cell = take_cells(cells_, count);
    counts.cells += static_cast<std::uint32_t>(count);
    sums_.add_cells(sums_.stage_cell(cell.exists, cell.centre, cell.core, cell.moments, targets_.bounds()));
  }

  __device__ void expand_cells(int count) {
    const Cell cell = take_cells(expanded_, count);
    counts.expanded += static_cast<std::uint32_t>(count);
    expansion_.add(cell.exists, cell.centre, cell.core.mass, cell.moments);
  }

  /// A batch of the last buckets of the list.
  __device__ void sum_buckets() {
    const auto batch = buckets_.take(scope_, Trees::codes(from_), from_.nodes[0].links);
    const SourceParticle source = from_.particles[batch.particle];
    counts.particles += static_cast<std::uint32_t>(batch.count());
    sums_.add_particles(sums_.stage_particle(batch.exists, batch.moved(scope_, source.position), source.mass,
                                             from_.softening[batch.particle], targets_.bounds()));
  }

  __device__ void sum_within() {
    sums_.add_within(targets_.count(), targets_.sources());
    counts.particles += static_cast<std::uint32_t>(targets_.count());
  }

  const ForceUnits& units_;
  const WalkSources& from_;
  WarpMemory& m_;
  WarpStore* const store_;
  NodeStack stack_;
  Sums sums_;
  Targets targets_;
  Scope scope_;
  GroupExpansion<Sums::node_order> expansion_;
  SourceList cells_, expanded_;
  typename Trees::Buckets buckets_;
  Share share_;
  int batches_ = 0;  ///< since sums were kept
};

}  // namespace grove::cuda
