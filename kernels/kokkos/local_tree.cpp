#include "kernels/kokkos/local_tree.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace grove {
namespace {

constexpr std::int32_t from_top = -1;

class Gatherer {
 public:
  Gatherer(const GatherSetup& setup, const TargetLeaf& target, LocalTree& local)
      : setup_(setup), target_(target), local_(local) {
    local.x.clear(), local.y.clear(), local.z.clear();
    local.reach2.clear(), local.power.clear(), local.near2.clear();
    local.links.clear(), local.cells.clear(), local.origins.clear();
    local.copied.clear(), local.copied_types.clear();
  }

  void append_root(const SourceTree& tree) { append_node(tree, {0, 0, 0}, {target_.leaf, 0}); }

  void append_top(const TopTree& top, std::int32_t node) {
    const auto n = static_cast<std::size_t>(node);
    const Vec3f centre = ((top.centre[n] - target_.origin) * (1 / setup_.units.length)).as<float>();
    append(top.core[n], centre, top.moments[n], {from_top, node});
    // Ancestors of the target are always opened; the criteria see to that up to rounding.
    if (top.links[n].holds(target_.leaf)) local_.reach2.back() = std::numeric_limits<float>::infinity();
  }

  void expand_own(const SourceTree& tree) {
    for (std::size_t i = 0; i < local_.links.size(); ++i)
      if (!accepted_by_all(i)) expand_node(tree, {0, 0, 0}, i, false);
    local_.particles = tree.particles;
    local_.types = tree.types;
  }

  void expand_others(const TopTree& top, std::span<const SourceTree> trees) {
    for (std::size_t i = 0; i < local_.links.size(); ++i) {
      if (accepted_by_all(i)) continue;
      const LocalTree::Origin origin = local_.origins[i];
      if (origin.tree == from_top) {
        expand_top(top, trees, i);
      } else {
        const SourceTree& tree = trees[static_cast<std::size_t>(origin.tree)];
        expand_node(tree, shift_between(tree.origin, target_.origin, setup_.units), i, true);
      }
    }
    local_.particles = local_.copied.data();
    local_.types = local_.copied_types.data();
  }

 private:
  bool accepted_by_all(std::size_t i) const {
    const float distance2 = target_.bounds.distance2({local_.x[i], local_.y[i], local_.z[i]});
    const float needed = larger(local_.reach2[i], local_.power[i] * target_.bounds.strictness);
    return distance2 > needed * (1 + leaf_margin);
  }

  void append(const NodeCore& core, const Vec3f& centre, const NodeMoments& m, LocalTree::Origin origin) {
    local_.x.push_back(centre.x);
    local_.y.push_back(centre.y);
    local_.z.push_back(centre.z);
    local_.reach2.push_back(core.reach2);
    local_.power.push_back(core.power);
    local_.near2.push_back(near2(core, 0));
    local_.links.push_back({LocalLinks::closed, 0});
    local_.origins.push_back(origin);
    const float trace = m.xx + m.yy + m.zz;
    local_.cells.push_back({centre, core.mass, 3 * m.xx - trace, 3 * m.yy - trace, 3 * m.zz - trace, 3 * m.xy,
                            3 * m.xz, 3 * m.yz, trace, larger(std::abs(core.softening), least_softening),
                            larger(m.softening2, least_softening * least_softening)});
  }

  /// Plummer softening has no end. beyond: how much closer a particle may be than the centre.
  float near2(const NodeCore& core, float beyond) const {
    if (setup_.kernel == SofteningKernel::plummer) return std::numeric_limits<float>::infinity();
    constexpr auto radii = static_cast<float>(spline_radius_over_softening);
    const float softening =
        larger(larger(std::abs(core.softening), target_.bounds.softening), least_softening);
    const float reach = radii * softening + beyond;
    return reach * reach * (1 + leaf_margin);
  }

  void append_node(const SourceTree& tree, const Vec3f& shift, LocalTree::Origin origin) {
    const auto n = static_cast<std::size_t>(origin.node);
    append(tree.core[n], tree.core[n].centre + shift, tree.moments[n], origin);
  }

  void expand_node(const SourceTree& tree, const Vec3f& shift, std::size_t i, bool copy_particles) {
    const LocalTree::Origin origin = local_.origins[i];
    const NodeLinks& links = tree.links[origin.node];
    if (links.child == NodeLinks::pruned)
      throw std::logic_error("walk: a pruned node of leaf " + std::to_string(origin.tree) +
                             " would have to be opened for leaf " + std::to_string(target_.leaf));
    if (links.child == NodeLinks::bucket) {
      const NodeCore& core = tree.core[origin.node];
      local_.near2[i] = near2(core, core.radius);
      local_.links[i] = {~(copy_particles ? copy(tree, shift, links) : links.first), links.count};
      return;
    }
    const std::int32_t first = local_.size();
    for (std::int32_t child = links.child; child != links.next; child = tree.links[child].next)
      append_node(tree, shift, {origin.tree, child});
    local_.links[i] = {first, local_.size() - first};
  }

  std::int32_t copy(const SourceTree& tree, const Vec3f& shift, const NodeLinks& links) {
    const auto first = static_cast<std::int32_t>(local_.copied.size());
    for (std::int32_t p = links.first; p < links.first + links.count; ++p) {
      local_.copied.push_back({tree.particles[p].position + shift, tree.particles[p].mass});
      local_.copied_types.push_back(tree.types[p]);
    }
    return first;
  }

  void expand_top(const TopTree& top, std::span<const SourceTree> trees, std::size_t i) {
    const TopLinks& links = top.links[local_.origins[i].node];
    if (links.child < 0) {
      open_leaf(trees, i, links.first_leaf);
      return;
    }
    const std::int32_t first = local_.size();
    for (std::int32_t child = links.child; child < links.child + 2; ++child)
      if (const TopLinks& c = top.links[child]; c.child >= 0 || c.first_leaf != target_.leaf)
        append_top(top, child);
    local_.links[i] = {first, local_.size() - first};
  }

  /// The root of a leaf's tree is the top tree's node already: its children follow.
  void open_leaf(std::span<const SourceTree> trees, std::size_t i, std::int32_t leaf) {
    const SourceTree& tree = trees[static_cast<std::size_t>(leaf)];
    if (tree.nodes == 0)
      throw std::logic_error("walk: leaf " + std::to_string(leaf) +
                             " is not here but would have to be opened for leaf " +
                             std::to_string(target_.leaf));
    local_.origins[i] = {leaf, 0};
    expand_node(tree, shift_between(tree.origin, target_.origin, setup_.units), i, true);
  }

  const GatherSetup& setup_;
  const TargetLeaf& target_;
  LocalTree& local_;
};

}  // namespace

SofteningTable softening_table(const GravityParameters& gravity, const WalkUnits& units) {
  SofteningTable table{};
  for (std::size_t type = 0; type < particle_types; ++type) {
    const float length = larger(static_cast<float>(gravity.softening[type] / units.length), least_softening);
    table.length[type] = length;
    table.length2[type] = length * length;
    table.inverse[type] = 1 / (static_cast<float>(spline_radius_over_softening) * length);
  }
  return table;
}

void gather_own(const GatherSetup& setup, const TargetLeaf& target, const SourceTree& tree,
                LocalTree& local) {
  Gatherer gatherer(setup, target, local);
  gatherer.append_root(tree);
  gatherer.expand_own(tree);
}

void gather_others(const GatherSetup& setup, const TargetLeaf& target, const TopTree& top,
                   std::span<const SourceTree> trees, LocalTree& local) {
  Gatherer gatherer(setup, target, local);
  if (top.nodes > 0 && !(top.links[0].child < 0 && top.links[0].first_leaf == target.leaf))
    gatherer.append_top(top, 0);
  gatherer.expand_others(top, trees);
}

}  // namespace grove
