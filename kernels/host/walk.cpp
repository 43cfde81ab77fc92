#include "kernels/host/walk.hpp"

#include <algorithm>

#include "kernels/host/cell_expansion.hpp"
#include "kernels/host/group_walk.hpp"
#include "kernels/host/leaf_loop.hpp"
#include "kernels/host/list_sums.hpp"
#include "kernels/host/local_tree.hpp"
#include "kernels/math/group_runs.hpp"

namespace grove {
namespace {

/// The memory that a thread needs to walk leaves; kept between leaves because of its arrays.
struct Walker {
  LocalTree tree;
  InteractionLists lists;
  GroupLanes lanes;
};

struct PassSetup {
  GatherSetup gather;
  SumSetup sums;
  ForceUnits force;
  float critical_separation;
  float expansion_excess;

  explicit PassSetup(const WalkSetup& setup)
      : gather{setup.units, softening_table(setup.gravity, setup.units), setup.gravity.kernel,
               setup.gravity.images},
        sums{setup.gravity.kernel, setup.gravity.order, gather.softening},
        force(ForceUnits::of(setup.gravity, setup.units)),
        critical_separation(setup.critical_separation),
        expansion_excess(setup.gravity.expansion_excess()) {}
};

/// Gives the particles of a group that get a force what acts on them, or adds it.
void put_results(const PassSetup& setup, const Group& group, const GroupLanes& lanes, std::uint32_t work,
                 bool adds, const ForceOutput& out) {
  for (int i = 0; i < lanes.count; ++i) {
    const auto p = static_cast<std::size_t>(group.first + static_cast<std::int32_t>(lanes.number[i]));
    const Vec3f a = setup.force.acceleration_of(lanes.acceleration(i));
    const float potential = setup.force.potential_of(lanes.potential(i));
    adds ? out.add(p, a, potential, work) : out.set(p, a, potential, work);
  }
}

/// A group of a leaf, or a part of one, through the leaf's gathered tree. own: the tree is the leaf's own.
WalkCounts walk_group(const PassSetup& setup, const TargetLeaf& target, const Group& group, bool own,
                      Walker& walker, const ForceOutput& out) {
  const auto frame =
      ExpansionFrame::of(group.bounds, own ? no_expansion : setup.expansion_excess, setup.sums.order);
  list_interactions(walker.tree, group.bounds, frame, walker.lists);
  walker.lanes.load(target, group, setup.gather.softening);
  const std::int32_t last = group.first + group.count;
  sum_expanded(frame, group.bounds, walker.tree, walker.lists, walker.lanes);
  const auto expanded = static_cast<std::int64_t>(walker.lists.expanded.size());
  std::int64_t particles = 0;
  if (own) {
    sum_within(setup.sums, target, group, walker.lanes);
    particles =
        sum_lists(setup.sums, walker.tree, walker.lists, group.first, last, walker.lanes) + group.count;
  } else {
    particles = sum_lists(setup.sums, walker.tree, walker.lists, 0, 0, walker.lanes);
  }
  const auto cells =
      static_cast<std::int64_t>(walker.lists.far_cells.size() + walker.lists.near_cells.size());
  put_results(setup, group, walker.lanes, static_cast<std::uint32_t>(cells + expanded + particles), !own,
              out);
  const std::int64_t targets = walker.lanes.count;
  return {(cells + expanded) * targets, particles * targets, walker.lists.tests, expanded * targets,
          group_instructions(cells, expanded, particles, walker.lists.tests)};
}

WalkCounts walk_groups(const PassSetup& setup, const TargetLeaf& target, bool own, Walker& walker,
                       const ForceOutput& out) {
  WalkCounts counts;
  for (std::int32_t g = 0; g < target.group_count; ++g) {
    const Group& group = target.groups[g];
    if (group.active == 0) continue;
    const auto walk = [&](const Group& part) { counts += walk_group(setup, target, part, own, walker, out); };
    if (setup.critical_separation > 0)
      for_runs(group, target.particles + group.first, target.buckets[g], setup.critical_separation, walk);
    else
      walk(group);
  }
  return counts;
}

bool is_active(const TargetLeaf& target) {
  return std::any_of(target.groups, target.groups + target.group_count,
                     [](const Group& group) { return group.active != 0; });
}

}  // namespace

WalkCounts walk_own(const WalkSetup& setup, std::span<const TargetLeaf> targets,
                    std::span<const SourceTree> trees, std::span<const ForceOutput> outputs) {
  const PassSetup pass(setup);
  return for_leaves<Walker>("Grove::walk::own", targets.size(), [&](std::size_t i, Walker& walker) {
    gather_own(pass.gather, targets[i], trees[i], walker.tree);
    return walk_groups(pass, targets[i], true, walker, outputs[i]);
  });
}

WalkCounts walk_others(const WalkSetup& setup, std::span<const TargetLeaf> targets, const TopTree& top,
                       std::span<const SourceTree> trees, std::span<const ForceOutput> outputs) {
  const PassSetup pass(setup);
  return for_leaves<Walker>("Grove::walk::others", targets.size(), [&](std::size_t i, Walker& walker) {
    if (!is_active(targets[i])) return WalkCounts{};  // nothing is here for it
    gather_others(pass.gather, targets[i], top, trees, walker.tree);
    return walk_groups(pass, targets[i], false, walker, outputs[i]);
  });
}

}  // namespace grove
