#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/cuda/trees/top_views.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove::cuda {

/// The sources of forces; device memory, walk units. Own leaves and imported ones alike, numbered as this
/// rank knows them, own ones first. At least the root of each is here, pruned if no group of this rank opens
/// it.
struct WalkSources {
  NodeArrays nodes[2];  ///< of the leaves, with frames by number; of the cells above them
  const SourceParticle* particles;
  const float* softening;                ///< by particle
  const std::uint8_t* children;          ///< by node, as LeafTrees::children
  const std::uint32_t* beginnings;       ///< those of TopSources, and the next likewise
  const std::uint32_t* first_beginning;  ///< [own leaves + 1]
  NodeCodes codes;
  LocalTreeKind kind;       ///< of the trees of the leaves
  const NodeBox* boxes[2];  ///< of `nodes`, where the criterion needs them
  const Ball* balls[2];     ///< by frame of `nodes`, in a box whose cells have some, else null

  /// Some trees, without frames: all that walk_own() needs.
  static WalkSources of(const LeafTrees& trees, NodeCodes codes) {
    return {.nodes = {{.core = trees.core, .moments = trees.moments, .links = trees.links}, {}},
            .particles = trees.sources,
            .softening = trees.softening,
            .children = trees.children,
            .beginnings = nullptr,
            .first_beginning = nullptr,
            .codes = codes,
            .kind = trees.kind,
            .boxes = {trees.node_boxes, nullptr},
            .balls = {nullptr, nullptr}};
  }
  /// The same with the cells above the leaves, and the frames and balls of the leaves.
  WalkSources below(const TopSources& top, const SourceFrame* frames,
                    const Ball* leaf_balls = nullptr) const {
    WalkSources all = *this;
    all.nodes[0].frames = frames;
    all.nodes[1] = top.cells;
    all.boxes[1] = top.boxes;
    all.balls[0] = leaf_balls;
    all.balls[1] = top.balls;
    all.beginnings = top.beginnings;
    all.first_beginning = top.first_beginning;
    return all;
  }
};

/// Numbers of parts: the most that the kernels take, and the most that saves time
/// (docs/measurements/gpu-forces.md).
inline constexpr int most_walk_parts = 32, most_useful_parts = 16;

/// Into how many shares what is left of a group is split.
inline constexpr std::uint32_t shares_per_split = 8;
inline constexpr std::uint32_t no_share_limit = ~std::uint32_t{0};

/// The targets of forces: active particles of the leaves of this rank (Group::active). Device memory.
struct WalkTargets {
  LeafTrees trees;
  const std::uint32_t* leaf_of_group;  ///< of all groups; among the leaves of this rank
  std::uint32_t groups;                ///< to be walked
  const std::uint32_t* active =
      nullptr;    ///< [groups] numbers of those to be walked, each once; null: the first
  int parts = 1;  ///< among which the sources of a group are split: 1, 2, 4, ... most_walk_parts
  /// Particles that walk as one: group_size; or, of bisections, twice as many, if parts is 1: the groups of a
  /// leaf in pairs, the first with the second and so on. The first one of a pair is to be walked; the
  /// second one may be among those to be walked and is passed over.
  int targets_per_warp = group_size;
  /// In walk_others(): interactions of a target after which a warp leaves what is left of its group to
  /// others, in shares; and how many of these there is room for, a multiple of shares_per_split.
  std::uint32_t share_limit = no_share_limit;
  std::uint32_t most_shares = 16384;
  float expansion_excess = no_expansion;  ///< set by the walk: GravityParameters::expansion_excess()
};

/// As many parts as keep a GPU busy with few groups, of which all ranks together walk those that are active.
/// From some hundred on, splitting long groups does better (share_limit()). The parts decide the order of
/// summation, and so the last bits of the forces: the number must not depend on how many ranks there are, nor
/// on the GPU.
constexpr int walk_parts(std::int64_t groups_of_all_ranks) {
  constexpr std::int64_t enough = 1024;  // warps
  int parts = 1;
  while (parts < most_useful_parts && 2 * parts * groups_of_all_ranks <= enough) parts *= 2;
  return parts;
}

/// WalkTargets::share_limit for so many groups of so much work (ActiveList::work()) on all ranks: about twice
/// the mean of as many warps as keep GPUs busy, or of the groups, if there are more. A group that reaches
/// into a dense place has ten or twenty times as much to sum as others, which no earlier walk foretells, and
/// all would wait for its warp; and where there are few groups each warp waits for memory most of the time.
/// None where several warps walk each group anyway. The limit must not depend on how many ranks there are,
/// nor on the GPU: shares are summed apart.
constexpr std::uint32_t share_limit(std::int64_t groups_of_all_ranks, std::int64_t work_of_all_ranks) {
  constexpr std::int64_t least = 256;     // of which the start of a share takes a tenth or so
  constexpr std::int64_t enough = 16384;  // warps; an H200 runs 3168 at a time
  if (walk_parts(groups_of_all_ranks) > 1) return no_share_limit;
  const std::int64_t limit = work_of_all_ranks / std::max(groups_of_all_ranks, enough) * 3 / 2;
  return static_cast<std::uint32_t>(std::clamp(limit, least, std::int64_t{no_share_limit}));
}

/// Room for shares of so many groups of a rank, as WalkTargets::most_shares, so that an eighth of them may be
/// split once. Where that is too little, as trees have aged since the work of groups was counted, all is
/// walked twice.
constexpr std::uint32_t room_for_shares(std::uint32_t groups) {
  return groups / shares_per_split * shares_per_split;
}

/// How many particles it pays to walk together where all ranks have so many: bisections in pairs of groups
/// take up to a third more interactions, for half the opening tests, half the loads a pair and smaller
/// errors, which pays where there are warps enough (docs/measurements/gpu-forces.md). Who walks together
/// decides the last bits of the forces: the number must not depend on how many ranks there are, nor on the
/// GPU.
constexpr int default_targets_per_warp(std::int64_t particles_of_all_ranks) {
  constexpr std::int64_t enough = std::int64_t{1} << 20;
  return particles_of_all_ranks >= enough ? 2 * group_size : group_size;
}

/// Forces on groups, one warp each; the passes, and who acts on whom, are those of kernels/host/walk.hpp.
///
/// A warp keeps a stack of nodes to be tested and takes up to 32 at a time from its top, a lane each; what is
/// accepted and the buckets of what is opened go to two lists, and each list is summed whenever it fills a
/// batch of 32 sources: a lane loads one, then all lanes, a target each, read them one after the other, first
/// those beyond the reach of softening, then the others. Accepted cells that are far enough go to a third
/// list: they are added to an expansion about the middle of the targets, a cell to a lane, of which each
/// target gets its part at the end (local_expansion.hpp). After each 16 batches sums are kept with what
/// rounding has left out of them. Octrees have more and smaller buckets: there a batch of particles joins as
/// many buckets as it holds. Where a stack is nearly full fewer nodes are taken
/// at a time, so that it never overflows. The order of summation depends on the trees, parts,
/// targets_per_warp and share_limit of the targets alone.
///
/// With several parts as many warps walk each group. They test the same nodes until there are two to eight
/// for each, then every one goes on with its own of these; their sums are added in the order of the parts.
/// Device memory for that: 516 bytes per group and part. For the few active groups of block time steps;
/// compare Miki and Umemura 2017, New Astron. 52, 65.
///
/// With a limit, a warp that has done enough for its group splits what is left on its stack into eight
/// shares. When all groups are done any warp may take one; a share is split again after a quarter of the
/// limit. At last they are added in an order that follows from the trees. Device memory: 900 bytes for each
/// of most_shares, 1412 where groups walk in pairs.
///
/// Sets the output of the active particles of the groups walked. Throws OpensPruned if a pruned node would
/// have to be opened.
WalkCounts walk_own(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                    const WalkTargets& targets, const ForceOutput& output);
WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const ForceOutput& output);

/// walk_own() in the background, while trees are exchanged: beside all that the GPU is asked for until
/// finish(). It needs the nodes, particles and codes of the own leaves; no frames, no cells above, no
/// beginnings. Through bisections it goes in brief blocks, so that UrgentWork finds processors after some 0.1
/// ms; through octrees UrgentWork may have to wait for its end. The arrays of targets and output must outlive
/// this. Its end holds all that comes next until the walk is done.
class OwnWalk {
 public:
  OwnWalk(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
          const WalkTargets& targets, const ForceOutput& output);
  ~OwnWalk();
  OwnWalk(const OwnWalk&) = delete;
  OwnWalk& operator=(const OwnWalk&) = delete;

  /// Waits for it. Throws as walk_own() does.
  WalkCounts finish();
  /// The same with walk_others() behind it, and one wait for both. Returns the counts of both. targets
  /// (in/out): where there was no room for all shares there now is, and all has been walked again.
  WalkCounts finish_with_others(const GravityParameters& gravity, const WalkUnits& units,
                                const WalkSources& sources, WalkTargets& targets, const ForceOutput& output);
  /// How many shares there were of groups that were split. After it has finished with others.
  std::int64_t shares() const;
  /// How long it took the GPU, beside all else. After it has finished.
  double seconds() const;
  /// How long the others took behind it, the last time if they walked again for want of room.
  double seconds_of_others() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
