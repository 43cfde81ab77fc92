#include "kernels/host/rope_walk.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/host/leaf_loop.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/softening_shape.hpp"
#include "kernels/math/target_visitor.hpp"

namespace grove {
namespace {

/// The root of a tree that is not here: no walk of this rank opens it.
constexpr NodeLinks pruned_root{NodeLinks::pruned, -1, 0, 0};

struct RopePass {
  const RopeForest& forest;
  WalkUnits units;
  AcceptanceRule acceptance;
  double per_acceleration;  ///< from units of the run to walk units
  ForceUnits force;
  std::array<float, particle_types> softening;  ///< walk units
  Images images;
};

template <class Acceptance, Order order, class Shape>
WalkCounts follow_particle(const RopePass& pass, const TargetLeaf& leaf, std::int32_t place,
                           const ForceOutput& out) {
  const auto old_acceleration = static_cast<float>(leaf.old_acceleration[place] * pass.per_acceleration);
  TargetVisitor gravity(Acceptance(pass.acceptance.inverse_tolerance(old_acceleration)),
                        TargetExpansion<order, Shape>(pass.softening[leaf.types[place]]));
  WalkCounts counts;
  for (int image = 0; image < pass.images.count(); ++image) {
    const HostRopeTrees trees(pass.forest, pass.units, pass.softening.data(),
                              leaf.origin - pass.images.shift(image));
    const std::int32_t own_leaf = image == 0 ? leaf.leaf : -1;
    RopeWalk walk(trees, {own_leaf, place, leaf.particles[place].position}, gravity);
    if (!walk.run())
      throw OpensPruned("rope walk: a particle of leaf " + std::to_string(leaf.leaf) +
                        " opens what was not sent for it");
    counts += {walk.nodes, walk.particles, walk.tests};
  }
  out.set(static_cast<std::size_t>(place), pass.force.acceleration_of(gravity.sum.acceleration),
          pass.force.potential_of(gravity.sum.potential),
          static_cast<std::uint32_t>(counts.cell + counts.particle));
  return counts;
}

template <class Acceptance, Order order, class Shape>
WalkCounts follow_leaf(const RopePass& pass, const TargetLeaf& leaf, const ForceOutput& out) {
  WalkCounts counts;
  for (std::int32_t g = 0; g < leaf.group_count; ++g)
    for (std::int32_t i = 0; i < leaf.groups[g].count; ++i)
      if (leaf.groups[g].active >> i & 1U)
        counts += follow_particle<Acceptance, order, Shape>(pass, leaf, leaf.groups[g].first + i, out);
  return counts;
}

}  // namespace

RopeForest::RopeForest(const TopTree& top_tree, std::span<const SourceTree> here,
                       std::span<const LeafRoot> roots)
    : top(top_tree),
      next(static_cast<std::size_t>(top.nodes), rope_end),
      leaf_cell(here.size()),
      trees(here.begin(), here.end()),
      root_boxes(here.size()) {
  for (std::size_t leaf = 0; leaf < trees.size(); ++leaf) {
    if (trees[leaf].nodes > 0) continue;
    const LeafRoot& root = roots[leaf];
    root_boxes[leaf] = root.box();
    trees[leaf] = {root.origin,  &root.core, &root.moments, &root_boxes[leaf],
                   &pruned_root, nullptr,    nullptr,       1};
  }
  for (std::size_t c = 0; c < next.size(); ++c) {  // children lie behind their parents
    const TopLinks& links = top.links[c];
    if (links.is_leaf()) {
      leaf_cell[static_cast<std::size_t>(links.first_leaf)] = static_cast<std::uint32_t>(c);
      continue;
    }
    if (links.child < 0) continue;
    const auto left = static_cast<std::size_t>(links.child);
    next[left] = static_cast<std::uint32_t>(left + 1);
    next[left + 1] = next[c];
  }
}

WalkCounts rope_walk(const WalkSetup& setup, double median_acceleration, const RopeForest& forest,
                     std::span<const TargetLeaf> targets, std::span<const ForceOutput> outputs) {
  const GravityParameters& gravity = setup.gravity;
  RopePass pass{forest,
                setup.units,
                AcceptanceRule::of(gravity, setup.units, median_acceleration),
                to_walk_acceleration(1, gravity.gravitational_constant, setup.units),
                ForceUnits::of(gravity, setup.units),
                {},
                gravity.images};
  for (std::size_t type = 0; type < particle_types; ++type)
    pass.softening[type] = static_cast<float>(gravity.softening[type] / setup.units.length);
  struct Nothing {};
  return with_order_and_shape(gravity, [&](auto order, auto shape) {
    const auto follow = pass.acceptance.needs_boxes()
                            ? follow_leaf<EdgeAcceptance, decltype(order)::value, decltype(shape)>
                            : follow_leaf<TargetAcceptance, decltype(order)::value, decltype(shape)>;
    return for_leaves<Nothing>("Grove::walk::ropes", targets.size(),
                               [&](std::size_t i, Nothing&) { return follow(pass, targets[i], outputs[i]); });
  });
}

}  // namespace grove
