#include "kernels/cuda/trees/tree_refit.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/leaf_blocks.cuh"
#include "kernels/cuda/trees/leaf_bounds.hpp"
#include "kernels/cuda/trees/leaf_update.cuh"
#include "kernels/cuda/trees/tree_sums.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

constexpr unsigned update_blocks = 4096;  // enough for any GPU
constexpr std::uint32_t no_node = ~0U;
static_assert(group_size == 32);

__device__ std::uint32_t groups_of(const LeafPlaces& leaf) { return static_cast<std::uint32_t>(leaf.groups); }

/// A warp per leaf.
__global__ void find_origins(const LeafParticleFields particles, const LeafTrees trees) {
  const std::uint32_t i = (blockIdx.x * threads + threadIdx.x) / 32;
  if (i >= trees.count) return;
  const LeafPlaces& leaf = trees.leaves[i];
  const Vec3d origin =
      leaf.count > 0 ? find_origin(particles.position + leaf.first, leaf.count) : Vec3d{0, 0, 0};
  if (lane_index() == 0) trees.origin[i] = origin;
}

/// Sources of groups of particles and their bounds, as GroupBody finds them. A warp per group, blocks along y
/// share a leaf. The rule is indexed by types, which without __grid_constant__ would take a copy in memory.
__global__ void __launch_bounds__(threads)
    make_groups(const __grid_constant__ UpdateRule rule, const LeafParticleFields particles,
                const LeafTrees trees) {
  const std::uint32_t l = blockIdx.x;
  const LeafPlaces leaf = trees.leaves[l];
  const SourceBody body = source_body(rule, trees.origin[l], particles, trees, leaf);
  for (std::uint32_t g = first_of_warp(); g < groups_of(leaf); g += step_of_warps()) {
    const GroupRun run = trees.runs[leaf.group + g];
    const std::int32_t i = run.first + lane_index();
    TargetBounds bounds = no_bounds();
    float least = largest_float;
    bool active = false;
    if (lane_index() < run.count) {  // what is stored is not read again
      const SourceParticle source = body.of(body.position[i], body.mass[i]);
      const float softening = rule.softening_of[body.type[i]];
      body.sources[i] = source;
      body.softening[i] = softening;
      widen(bounds, source.position, source.position, 0, softening);
      least = particles.old_acceleration[leaf.first + static_cast<std::uint64_t>(i)];
      active = is_active(particles, leaf.first + static_cast<std::uint64_t>(i));
    }
    bounds = warp_union(bounds);
    const std::uint32_t who = set_tolerance(rule, active, least, bounds);
    if (lane_index() == 0) trees.groups[leaf.group + g] = {bounds, run.first, run.count, who};
  }
}

/// Takes a place in each of some lists for threads that belong there. All threads of a block.
struct ListPlaces {
  static constexpr int lists = 3;
  std::uint32_t at[lists];

  __device__ ListPlaces(const bool (&belongs)[lists], std::uint32_t* const (&sizes)[lists]) {
    __shared__ std::uint32_t taken[lists];
    __syncthreads();  // the last ones have been read
    if (threadIdx.x < lists) taken[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int list = 0; list < lists; ++list) {
      const unsigned votes = __ballot_sync(~0U, belongs[list]);
      std::uint32_t first = 0;
      if (lane_index() == 0 && votes != 0)
        first = atomicAdd(&taken[list], static_cast<std::uint32_t>(__popc(votes)));
      at[list] = __shfl_sync(~0U, first, 0) + static_cast<std::uint32_t>(__popc(votes & lanes_before()));
    }
    __syncthreads();
#pragma unroll
    for (int list = 0; list < lists; ++list)
      if (threadIdx.x == static_cast<unsigned>(list)) taken[list] = atomicAdd(sizes[list], taken[list]);
    __syncthreads();
#pragma unroll
    for (int list = 0; list < lists; ++list) at[list] += taken[list];
  }
};

/// The children that a node waits for.
struct RefitFamily {
  std::uint32_t children = 0, divided = 0;
};

/// Tells the children of a divided node who their parent is.
__device__ RefitFamily adopt(const LeafTrees& trees, const TreeRefit::View& v, const LeafPlaces& leaf,
                             std::uint32_t n, const NodeLinks& link) {
  const auto root = static_cast<std::uint32_t>(leaf.node);
  RefitFamily family;
  for (bool last = false; !last; ++family.children) {
    const std::uint32_t c = root + static_cast<std::uint32_t>(link.child) + family.children;
    const NodeLinks child = trees.links[c];
    v.parent[c] = n;
    v.note_child(link, child, trees.runs, leaf, c);
    family.divided += child.child != NodeLinks::bucket;
    last = child.next == link.next;
  }
  return family;
}

/// Parents, which children they wait for, and the node that each group begins with. Blocks along y share a
/// leaf.
__global__ void __launch_bounds__(threads) find_parents(const LeafTrees trees, const TreeRefit::View v) {
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  const auto root = static_cast<std::uint32_t>(leaf.node),
             end = root + static_cast<std::uint32_t>(leaf.nodes);
  for (std::uint32_t first = root + blockIdx.y * threads; first < end; first += gridDim.y * threads) {
    const std::uint32_t n = first + threadIdx.x;
    bool is_divided = false, is_start = false, is_wide = false;
    if (n < end) {
      const NodeLinks link = trees.links[n];
      if (n == root) {
        v.parent[n] = no_node;
        v.note_root(link, leaf, n);
      }
      is_divided = link.child != NodeLinks::bucket;
      RefitFamily family;
      if (is_divided) {
        family = adopt(trees, v, leaf, n, link);
        v.pending[n] = family.divided;
        is_wide = v.whole_groups(link, leaf).exist();
        if (is_wide) v.radius2[n] = 0;
      } else {
        v.note_bucket(link, leaf, n);
      }
      trees.children[n] = static_cast<std::uint8_t>(family.children);
      is_start = is_divided ? family.divided == 0 : n == root;
    }
    const ListPlaces places({is_divided, is_start, is_wide},
                            {&v.sizes->divided, &v.sizes->ready[0], &v.sizes->wide});
    if (is_divided) v.slot[n] = places.at[0];
    if (is_start) v.ready[0][places.at[1]] = {n, blockIdx.x};
    if (is_wide) v.wide[places.at[2]] = {n, blockIdx.x};
  }
}

/// Nodes that wait for no other, in a list, and where to list those that will then wait for none.
struct Pass {
  const TreeRefit::Place* ready;
  const std::uint32_t* size;
  TreeRefit::Place* next;
  std::uint32_t* next_size;
};

/// Sums up the nodes of a list that wait for no other, some lanes each; lists the parents that have waited
/// for the last of them, the next list. In the last pass who finishes the last child of a parent goes on with
/// it.
template <class Extent, class Lanes, bool is_last_pass>
__global__ void __launch_bounds__(threads, 4)
    combine(const AcceptanceRule rule, const LeafTrees trees, const TreeRefit::View v, const Pass pass,
            const RootOfTrees root) {
  __shared__ NodeSum<Extent> memory[threads];
  const std::uint32_t size = *pass.size, step = gridDim.x * (threads / Lanes::count);
  for (std::uint32_t i = (blockIdx.x * threads + threadIdx.x) / Lanes::count; i < size; i += step) {
    const TreeRefit::Place start = pass.ready[i];
    const LeafPlaces& leaf = trees.leaves[start.leaf];
    const LeafSums<Extent, Lanes> sums{
        rule, trees, v, leaf, memory + threadIdx.x / Lanes::count * Lanes::count, root, start.leaf};
    std::uint32_t n = start.node;
    for (bool goes_on = true; goes_on;) {
      const NodeLinks link = trees.links[n];
      const std::uint32_t children = trees.children[n], parent = v.parent[n];
      if (children == 0) {  // a leaf of one bucket
        if (Lanes::own() == 0) sums.take_child(n, true, sums.memory[0]);
        break;
      }
      sums.add_children(static_cast<std::uint32_t>(leaf.node + link.child), children);
      sums.store(n, link);
      int is_last = 0;
      if (Lanes::own() == 0 && parent != no_node) {
        // Between passes all that was stored is there; fences would empty the caches at each node.
        if (is_last_pass) __threadfence();
        is_last = atomicAdd(&v.pending[parent], ~0U) == 1;
        if (is_last_pass) __threadfence();
      }
      if (!is_last_pass && is_last) pass.next[atomicAdd(pass.next_size, 1U)] = {parent, start.leaf};
      __syncwarp(Lanes::mask());
      goes_on = is_last_pass && __shfl_sync(Lanes::mask(), is_last, 0, Lanes::count) != 0;
      n = parent;
    }
  }
}

/// A few passes leave few nodes for the last one.
template <class Extent, class Lanes>
void combine_all(const AcceptanceRule& rule, const LeafTrees& trees, const TreeRefit::View& v,
                 const RootOfTrees& root, unsigned blocks) {
  std::uint32_t* const sizes = v.sizes->ready;
  static_assert(TreeRefit::Sizes::passes == 3);
  combine<Extent, Lanes, false>
      <<<blocks, threads>>>(rule, trees, v, {v.ready[0], sizes, v.ready[1], sizes + 1}, root);
  combine<Extent, Lanes, false>
      <<<blocks, threads>>>(rule, trees, v, {v.ready[1], sizes + 1, v.ready[0], sizes + 2}, root);
  combine<Extent, Lanes, true>
      <<<blocks, threads>>>(rule, trees, v, {v.ready[0], sizes + 2, nullptr, nullptr}, root);
}

/// Nodes of octrees have up to eight children, those of kd-trees two; of groups a quarter of a warp takes
/// one.
using LanesOfOctant = NodeLanes<8>;
using LanesOfPair = NodeLanes<2>;
using LanesOfGroup = NodeLanes<8>;

/// Groups that a warp takes to the nodes above them, a quarter of its lanes each; they are together as soon
/// as a node holds all of them.
constexpr int groups_of_warp = 32 / LanesOfGroup::count, particles_of_lane = group_size / LanesOfGroup::count;

/// Tells a node how far it reaches to particles that are all its own; by the lanes of the mask.
__device__ void tell_radius(const LeafTrees& trees, const TreeRefit::View& v, std::uint32_t n,
                            const Vec3f (&position)[particles_of_lane], unsigned mask) {
  const Vec3f centre = trees.core[n].centre;
  const unsigned known = v.radius2[n];
  unsigned bits = 0;
#pragma unroll
  for (int k = 0; k < particles_of_lane; ++k) bits = max(bits, distance2_bits(position[k], centre));
  bits = __reduce_max_sync(mask, bits);
  // Most groups do not reach farther than others have: then nothing waits for the atomic.
  if (lane_index() == __ffs(static_cast<int>(mask)) - 1 && bits > known) atomicMax(&v.radius2[n], bits);
}

/// Tells all wide nodes that hold the whole of a group, but not those of the whole warp, [begin, end).
/// Returns the first one that does, or none.
__device__ std::uint32_t climb_alone(const LeafTrees& trees, const TreeRefit::View& v, std::uint32_t n,
                                     std::int32_t group_end, std::int32_t begin, std::int32_t end,
                                     const Vec3f (&position)[particles_of_lane]) {
  while (n != no_node) {
    const NodeLinks link = trees.links[n];
    const std::uint32_t parent = v.parent[n];  // asked for before this one's answers are there
    const std::int32_t node_end = link.first + link.count;
    if (link.first <= begin && node_end >= end) break;
    if (node_end >= group_end) tell_radius(trees, v, n, position, LanesOfGroup::mask());
    n = parent;
  }
  return n;
}

/// The particles of groups for all wide nodes that hold the whole of a group. Blocks along y share a leaf.
__global__ void __launch_bounds__(threads)
    find_radii_of_groups(const LeafTrees trees, const TreeRefit::View v) {
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  const SourceParticle* const sources = trees.sources + leaf.first;
  const std::uint32_t packs = (groups_of(leaf) + groups_of_warp - 1) / groups_of_warp;
  for (std::uint32_t pack = first_of_warp(); pack < packs; pack += step_of_warps()) {
    const std::uint32_t first = pack * groups_of_warp, g = first + lane_index() / LanesOfGroup::count,
                        last = min(first + groups_of_warp, groups_of(leaf)) - 1;
    // Lanes beyond the last group look at that one, too.
    const GroupRun run = trees.runs[leaf.group + min(g, last)];
    const std::int32_t begin = __shfl_sync(~0U, run.first, 0),
                       end = __shfl_sync(~0U, run.first + run.count, 31);
    Vec3f position[particles_of_lane];
#pragma unroll
    for (int k = 0; k < particles_of_lane; ++k)
      position[k] =
          sources[run.first + min(LanesOfGroup::own() + k * LanesOfGroup::count, run.count - 1)].position;
    std::uint32_t n = no_node;
    if (g <= last) {
      const std::uint32_t start = v.first_node[leaf.group + g];
      n = climb_alone(trees, v, v.parent[start], run.first + run.count, begin, end, position);
    }
    for (n = __shfl_sync(~0U, n, 0); n != no_node;) {
      const std::uint32_t parent = v.parent[n];
      tell_radius(trees, v, n, position, ~0U);
      n = parent;
    }
  }
}

/// Completes wide nodes, with the particles of groups that are not wholly in the node. Eight lanes each.
template <class Extent>
__global__ void __launch_bounds__(threads) complete(const AcceptanceRule rule, const LeafTrees trees,
                                                    const TreeRefit::View v, const RootOfTrees root) {
  const std::uint32_t wide = v.sizes->wide, step = gridDim.x * (threads / LanesOfGroup::count);
  for (std::uint32_t k = (blockIdx.x * threads + threadIdx.x) / LanesOfGroup::count; k < wide; k += step) {
    const TreeRefit::Place place = v.wide[k];
    const LeafPlaces& leaf = trees.leaves[place.leaf];
    const SourceParticle* sources = trees.sources + leaf.first;
    const std::uint32_t n = place.node;
    const NodeLinks link = trees.links[n];
    const WholeGroups whole = v.whole_groups(link, leaf);
    const NodeCore node = trees.core[n];
    unsigned largest = largest_distance2<LanesOfGroup>(sources, link.first, whole.begin, node.centre);
    largest = max(largest,
                  largest_distance2<LanesOfGroup>(sources, whole.end, link.first + link.count, node.centre));
    largest = max(v.radius2[n], __reduce_max_sync(LanesOfGroup::mask(), largest));
    if (LanesOfGroup::own() != 0) continue;
    Extent extent{};
    if constexpr (is_stored<Extent>) extent = v.extent<Extent>(v.slot[n]);
    complete_node(rule, trees, n, node, trees.moments[n], largest, extent, root.frame_of(trees, place.leaf));
  }
}

}  // namespace

TreeRefit::View TreeRefit::view() {
  return {.parent = parent_.data(),
          .pending = pending_.data(),
          .slot = slot_.data(),
          .ready = {ready_[0].data(), ready_[1].data()},
          .wide = wide_.data(),
          .sizes = sizes_.data(),
          .radius2 = radius2_.data(),
          .first_node = first_node_.data(),
          .groups_are_nodes = tree_groups_ == TreeGroups::nodes,
          .sums = sums_.data(),
          .extents = extents_.data()};
}

void TreeRefit::run(const LeafParticleFields& particles, const GravityParameters& gravity,
                    const WalkUnits& units, double median_acceleration, const LeafTrees& trees,
                    std::uint32_t groups, std::uint32_t nodes) {
  if (trees.count == 0) return;
  const UpdateRule rule = UpdateRule::of(gravity, units, median_acceleration);
  const RootOfTrees root{particles.box, units.length};
  for (auto* of_nodes : {&parent_, &pending_, &radius2_, &slot_}) of_nodes->reserve(nodes);
  const std::size_t most_divided = nodes / 2;  // they have two children at least
  wide_.reserve(most_divided);
  ready_[0].reserve(most_divided + trees.count);
  ready_[1].reserve(most_divided);
  sizes_.clear();
  sums_.reserve(most_divided);
  first_node_.reserve(groups);
  if (rule.acceptance.takes_box()) extents_.reserve(most_divided * sizeof(BoxExtent));
  const bool finds_levels = rule.acceptance.takes_cell() && trees.finds_levels;
  if (finds_levels) extents_.reserve(most_divided * sizeof(CellExtent));
  const View v = view();

  find_origins<<<blocks_for(trees.count, warps), threads>>>(particles, trees);
  if (nodes > 0) {
    const auto of_leaves = [&](std::uint64_t items, unsigned per_block) {
      return blocks_of_leaves(trees.count, items, per_block, 2 * update_blocks);
    };
    const unsigned of_divided = std::min(update_blocks, blocks_for(nodes));
    make_groups<<<of_leaves(groups, warps), threads>>>(rule, particles, trees);
    find_parents<<<of_leaves(nodes, threads), threads>>>(trees, v);
    const auto sum_up = [&]<class Extent>(const Extent&) {
      const auto combine = trees.kind == LocalTreeKind::kd ? combine_all<Extent, LanesOfPair>
                                                           : combine_all<Extent, LanesOfOctant>;
      combine(rule.acceptance, trees, v, root, of_divided);
      find_radii_of_groups<<<of_leaves(groups, warps * groups_of_warp), threads>>>(trees, v);
      complete<Extent><<<of_divided, threads>>>(rule.acceptance, trees, v, root);
    };
    if (rule.acceptance.takes_box())
      sum_up(BoxExtent{});
    else if (finds_levels)
      sum_up(CellExtent{});
    else if (rule.acceptance.takes_cell())
      sum_up(KeptCell{});
    else
      sum_up(NoExtent{});
  }
  bound_leaves(trees, groups, parts_);
  constexpr unsigned of_nodes = 4 + Sizes::passes;  // beside that of origins
  launched("Grove::cuda::update_trees", 0, nodes > 0 ? 1 + of_nodes : 1);
}

}  // namespace grove::cuda
