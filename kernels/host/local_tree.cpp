#include "kernels/host/local_tree.hpp"

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
    local.pairs.clear();
    local.cells.clear();
    local.mass.clear();
    local.origins.clear();
    local.opened.clear();
    local.copied.clear();
    local.copied_types.clear();
  }

  void gather_own(const SourceTree& tree) {
    make_room(1);
    put_node(0, tree, {0, 0, 0}, {target_.leaf, 0});
    for (std::size_t k = 0; k < local_.opened.size(); ++k)
      expand_node(tree, {0, 0, 0}, local_.opened[k], false);
    local_.particles = tree.particles;
    local_.types = tree.types;
  }

  void gather_others(const TopTree& top, std::span<const SourceTree> trees) {
    make_room(1);
    if (setup_.images.are_open())
      put_top(0, top, 0, 0);
    else
      put_images(top);
    for (std::size_t k = 0; k < local_.opened.size(); ++k) {
      const std::int32_t i = local_.opened[k];
      const std::int32_t leaf = local_.origins[static_cast<std::size_t>(i)].tree;
      if (leaf == from_top) {
        expand_top(top, trees, i);
      } else {
        const SourceTree& tree = trees[static_cast<std::size_t>(leaf)];
        expand_node(tree, shift_to_target(tree, image_of(i)), i, true);
      }
    }
    local_.particles = local_.copied.data();
    local_.types = local_.copied_types.data();
  }

 private:
  std::int32_t image_of(std::int32_t i) const { return local_.origins[static_cast<std::size_t>(i)].image; }
  Vec3f shift_to_target(const SourceTree& tree, std::int32_t image) const {
    return shift_between(tree.origin + setup_.images.shift(image), target_.origin, setup_.units);
  }

  /// A root that is always opened, and the images of the top tree's below it. Of a leaf that is all there is
  /// the own image has been walked.
  void put_images(const TopTree& top) {
    constexpr float always = std::numeric_limits<float>::infinity();
    const bool has_own = !is_target(top.links[0]);
    std::int32_t images[27], count = 0;
    for (std::int32_t image = has_own ? 0 : 1; image < setup_.images.count(); ++image)
      if (!is_far(top, 0, image)) images[count++] = image;
    const std::int32_t first = make_room(count);
    local_.node(0) = {0, 0, 0, always, 0, 0, first, count};
    for (std::int32_t i = 0; i < count; ++i) put_top(first + i, top, 0, images[i]);
    if (count == 0) open_nothing(0);
  }
  /// An opened node below which nothing is to be seen: a bucket of no particles.
  void open_nothing(std::int32_t i) {
    local_.node(i).child = ~0;
    local_.node(i).count = 0;
  }

  /// True of a node of the top tree, or an image of it, that no walk of this target goes through.
  bool is_far(const TopTree& top, std::int32_t node, std::int32_t image) const {
    return target_.ball.is_there() &&
           acts_from_far(top.balls[node].shifted(setup_.images.shift(image)), target_.ball);
  }

  /// Room for some siblings; returns the index of the first.
  std::int32_t make_room(std::int32_t siblings) {
    const std::int32_t first = local_.size();
    const auto pairs = local_.pairs.size() + static_cast<std::size_t>(siblings + 1) / 2;
    local_.pairs.resize(pairs);
    local_.cells.resize(2 * pairs);
    local_.mass.resize(2 * pairs);
    local_.origins.resize(2 * pairs);
    if (siblings % 2 != 0) {
      constexpr float always = std::numeric_limits<float>::infinity();
      const std::int32_t last = local_.size() - 1;
      local_.node(last) = {0, 0, 0, always, 0, always, ~0, 0};
    }
    return first;
  }

  /// True if a group may open it, the test being a little stricter than the groups'.
  bool needs_opening(std::int32_t i) const {
    const LocalNode& node = local_.node(i);
    const float distance2 = target_.bounds.distance2({node.x, node.y, node.z});
    return !accepts(node.reach2, node.power, distance2, target_.bounds.inverse_tolerance, leaf_margin);
  }

  void put(std::int32_t i, const NodeCore& core, const Vec3f& centre, const NodeMoments& m,
           LocalTree::Origin origin) {
    local_.node(i) = {centre.x,   centre.y,       centre.z,          core.reach2,
                      core.power, near2(core, 0), LocalNode::closed, 0};
    local_.origins[static_cast<std::size_t>(i)] = origin;
    local_.mass[static_cast<std::size_t>(i)] = core.mass;
    constexpr float least2 = least_softening * least_softening;
    local_.cells[static_cast<std::size_t>(i)] =
        CellSource::of(centre, core.mass, m, larger(std::abs(core.softening), least_softening),
                       larger(m.softening2, least2));
  }

  void put_node(std::int32_t i, const SourceTree& tree, const Vec3f& shift, LocalTree::Origin origin) {
    put(i, tree.core[origin.node], tree.core[origin.node].centre + shift, tree.moments[origin.node], origin);
    if (needs_opening(i)) local_.opened.push_back(i);
  }

  void put_top(std::int32_t i, const TopTree& top, std::int32_t node, std::int32_t image) {
    const Vec3f centre =
        shift_between(top.centre[node] + setup_.images.shift(image), target_.origin, setup_.units);
    put(i, top.core[node], centre, top.moments[node], {from_top, node, image});
    // Ancestors of the target are always opened; the criteria see to that up to rounding. So is what has not
    // acted from far: the cells below it may.
    if ((image == 0 && top.links[node].holds(target_.leaf)) ||
        (target_.ball.is_there() && !top.links[node].is_leaf()))
      local_.node(i).reach2 = std::numeric_limits<float>::infinity();
    if (needs_opening(i)) local_.opened.push_back(i);
  }

  /// The distance at which softening ends, over its length. Plummer softening has no end.
  float softened_radii() const {
    switch (setup_.kernel) {
      case SofteningKernel::plummer:
        return std::numeric_limits<float>::infinity();
      case SofteningKernel::spline:
        return static_cast<float>(spline_radius_over_softening);
    }
    throw std::logic_error("no such softening kernel");
  }

  /// beyond: how much closer a particle may be than the centre.
  float near2(const NodeCore& core, float beyond) const {
    const float radii = softened_radii();
    const float softening =
        larger(larger(std::abs(core.softening), target_.bounds.softening), least_softening);
    const float reach = radii * softening + beyond;
    return reach * reach * (1 + leaf_margin);
  }

  void expand_node(const SourceTree& tree, const Vec3f& shift, std::int32_t i, bool copy_particles) {
    const LocalTree::Origin origin = local_.origins[static_cast<std::size_t>(i)];
    const NodeLinks& links = tree.links[origin.node];
    if (links.child == NodeLinks::pruned)
      throw OpensPruned("walk: a pruned node of leaf " + std::to_string(origin.tree) +
                        " would have to be opened for leaf " + std::to_string(target_.leaf));
    if (links.is_bucket()) {
      LocalNode& node = local_.node(i);
      const NodeCore& core = tree.core[origin.node];
      node.near2 = near2(core, core.radius);
      node.child = ~(copy_particles ? copy(tree, shift, links) : links.first);
      node.count = links.count;
      return;
    }
    std::int32_t children = 0;
    for (std::int32_t c = links.child; c != links.next; c = tree.links[c].next) ++children;
    const std::int32_t first = make_room(children);
    for (std::int32_t c = 0; c < children; ++c)
      put_node(first + c, tree, shift, {origin.tree, links.child + c, origin.image});
    local_.node(i).child = first;
    local_.node(i).count = children;
  }

  std::int32_t copy(const SourceTree& tree, const Vec3f& shift, const NodeLinks& links) {
    const std::size_t first = local_.copied.size(), count = static_cast<std::size_t>(links.count);
    local_.copied.resize(first + count);
    local_.copied_types.resize(first + count);
    for (std::size_t k = 0; k < count; ++k) {
      const SourceParticle& p = tree.particles[static_cast<std::size_t>(links.first) + k];
      local_.copied[first + k] = {p.position + shift, p.mass};
      local_.copied_types[first + k] = tree.types[static_cast<std::size_t>(links.first) + k];
    }
    return static_cast<std::int32_t>(first);
  }

  void expand_top(const TopTree& top, std::span<const SourceTree> trees, std::int32_t i) {
    const TopLinks& links = top.links[local_.origins[static_cast<std::size_t>(i)].node];
    const std::int32_t image = image_of(i);
    if (links.is_leaf()) {
      open_leaf(trees, i, links.first_leaf);
      return;
    }
    if (links.child < 0)
      throw OpensPruned("walk: a cell of another rank would have to be opened for leaf " +
                        std::to_string(target_.leaf));
    const auto is_seen = [&](std::int32_t node) {
      return !(image == 0 && is_target(top.links[node])) && !is_far(top, node, image);
    };
    const bool left = is_seen(links.child), right = is_seen(links.child + 1);
    const std::int32_t children = left + right, first = make_room(children);
    if (left) put_top(first, top, links.child, image);
    if (right) put_top(first + left, top, links.child + 1, image);
    local_.node(i).child = first;
    local_.node(i).count = children;
    if (children == 0) open_nothing(i);
  }

  bool is_target(const TopLinks& links) const { return links.is_leaf() && links.first_leaf == target_.leaf; }

  /// The root of a leaf's tree is the top tree's node already: its children follow.
  void open_leaf(std::span<const SourceTree> trees, std::int32_t i, std::int32_t leaf) {
    const SourceTree& tree = trees[static_cast<std::size_t>(leaf)];
    if (tree.nodes == 0)
      throw OpensPruned("walk: leaf " + std::to_string(leaf) +
                        " is not here but would have to be opened for leaf " + std::to_string(target_.leaf));
    const std::int32_t image = image_of(i);
    local_.origins[static_cast<std::size_t>(i)] = {leaf, 0, image};
    expand_node(tree, shift_to_target(tree, image), i, true);
  }

  const GatherSetup& setup_;
  const TargetLeaf& target_;
  LocalTree& local_;
};

}  // namespace

void gather_own(const GatherSetup& setup, const TargetLeaf& target, const SourceTree& tree,
                LocalTree& local) {
  Gatherer(setup, target, local).gather_own(tree);
}

void gather_others(const GatherSetup& setup, const TargetLeaf& target, const TopTree& top,
                   std::span<const SourceTree> trees, LocalTree& local) {
  Gatherer gatherer(setup, target, local);
  const bool target_is_all = top.nodes == 1 && top.links[0].first_leaf == target.leaf;
  if (top.nodes > 0 && (!target_is_all || !setup.images.are_open())) gatherer.gather_others(top, trees);
}

}  // namespace grove
