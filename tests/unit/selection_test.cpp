#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "kernels/math/acceptance.hpp"
#include "let/let_message.hpp"
#include "let/selection.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

constexpr std::int32_t leaf_size = 512;

/// A cube of particles in eight leaves.
struct Cube {
  Particles particles;
  testing::Grown grown;

  Cube() {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform;
    particles.reset(8 * leaf_size - 3);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      particles.position[i] = {uniform(random), uniform(random), uniform(random)};
      particles.mass[i] = 1 + uniform(random);
      particles.id[i] = i;
      particles.type[i] = static_cast<std::uint8_t>(i % 3);
      particles.old_acceleration[i] = 1;
    }
    grown.prepare(particles);
    grown.sort(particles, leaf_size);
    grown.build(particles);
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.theta = 0.5;
    gravity.softening = {0.01, 0.02, 0.005};
    grown.moments(particles, gravity, 0);
  }

  /// The node of the top tree that a leaf is.
  std::int32_t node_of(std::int32_t leaf) const {
    std::int32_t node = 0;
    while (!grown.cells[static_cast<std::size_t>(node)].is_leaf() ||
           grown.cells[static_cast<std::size_t>(node)].first_leaf != leaf)
      ++node;
    return node;
  }

  /// Leaf `to` as a receiver of leaf `from`.
  Receiver receiver(std::int32_t from, std::int32_t to) const {
    const TargetLeaf target = grown.forest.target(to);
    return {target.bounds, shift_between(grown.forest.tree(from).origin, target.origin, grown.units)};
  }
};

/// Adds what one receiver opens, told by the definition: node by node, from the top.
void open(const SourceTree& tree, const Receiver& receiver, std::int32_t node,
          std::set<std::int32_t>& opened) {
  opened.insert(node);
  const NodeLinks& links = tree.links[node];
  if (links.child == NodeLinks::bucket) return;
  for (std::int32_t child = links.child; child != links.next; child = tree.links[child].next) {
    const float distance2 = receiver.bounds.distance2(tree.core[child].centre + receiver.shift);
    if (!accepts(tree.core[child], distance2, receiver.bounds.inverse_tolerance, selection_margin))
      open(tree, receiver, child, opened);
  }
}

/// The nodes below one whose children, or particles, are among the opened ones, in the same order as
/// selected.
std::int32_t check_below(const SourceTree& whole, std::int32_t at, const SourceTree& pruned,
                         std::int32_t node, const std::set<std::int32_t>& opened) {
  EXPECT_EQ(std::memcmp(&whole.core[at], &pruned.core[node], sizeof(NodeCore)), 0);
  EXPECT_EQ(whole.moments[at].xx, pruned.moments[node].xx);
  const NodeLinks &from = whole.links[at], &to = pruned.links[node];
  EXPECT_EQ(from.count, to.count);
  if (!opened.contains(at)) {
    EXPECT_EQ(to.child, NodeLinks::pruned);
    return 1;
  }
  if (from.child == NodeLinks::bucket) {
    EXPECT_EQ(to.child, NodeLinks::bucket);
    for (std::int32_t i = 0; i < from.count; ++i) {
      EXPECT_EQ(whole.particles[from.first + i].position, pruned.particles[to.first + i].position);
      EXPECT_EQ(whole.types[from.first + i], pruned.types[to.first + i]);
    }
    return 1;
  }
  std::int32_t nodes = 1, child = to.child;
  for (std::int32_t c = from.child; c != from.next; c = whole.links[c].next, child = pruned.links[child].next)
    nodes += check_below(whole, c, pruned, child, opened);
  EXPECT_EQ(child, to.next);
  return nodes;
}

TEST(Selection, holds_what_its_receivers_open_and_nothing_else) {
  const Cube cube;
  const std::vector<std::vector<std::int32_t>> receiver_sets = {{1}, {7}, {1, 2, 3}, {4, 6}};
  for (const auto& set : receiver_sets) {
    Selection selection;
    for (const std::int32_t leaf : {0, 5}) {
      std::vector<Receiver> receivers;
      for (const std::int32_t to : set) receivers.push_back(cube.receiver(leaf, to));
      select_nodes(cube.grown.forest.tree(leaf), leaf, receivers, 0, selection);
    }
    selection.covers = {0, 1};
    const std::vector<std::int32_t> leaf_nodes = {cube.node_of(0), cube.node_of(5)};
    selection.cells = {{leaf_nodes[0], -1, 0}, {leaf_nodes[1], -1, 1}};
    // Through a message and back.
    const auto tree = [&](std::int32_t leaf) { return cube.grown.forest.tree(leaf); };
    TopMoments top = cube.grown.top;
    const Message message{0, pack_let(
                                 selection, [&](std::int32_t node) { return top.cell(node); }, tree)};
    std::vector<SourceTree> trees;
    const LetCounts counts = unpack_let(message, leaf_nodes, top, trees);

    std::int32_t nodes = 0;
    for (const std::int32_t leaf : {0, 5}) {
      std::set<std::int32_t> opened;
      for (const std::int32_t to : set) open(tree(leaf), cube.receiver(leaf, to), 0, opened);
      nodes += check_below(tree(leaf), 0, trees[static_cast<std::size_t>(leaf)], 0, opened);
    }
    EXPECT_EQ(counts.trees, 2);
    EXPECT_EQ(counts.nodes, nodes);
    EXPECT_LT(counts.nodes, 2 * cube.grown.forest.tree(0).nodes);  // something is pruned
  }
}

TEST(Selection, is_the_whole_tree_for_a_receiver_that_opens_everything) {
  const Cube cube;
  const SourceTree tree = cube.grown.forest.tree(3);
  const TargetBounds everywhere{{-1e9f, -1e9f, -1e9f}, {1e9f, 1e9f, 1e9f}, 0, 0};
  Selection selection;
  select_nodes(tree, 3, std::vector<Receiver>{{everywhere, {0, 0, 0}}}, 0, selection);
  ASSERT_EQ(selection.trees.size(), 1u);
  EXPECT_EQ(selection.trees[0].nodes, tree.nodes);
  EXPECT_EQ(selection.trees[0].particles, leaf_size);
}

/// The cells and trees that come with a message, for walks that open all or nothing.
TEST(Selection, of_cells_goes_down_to_what_is_opened) {
  const Cube cube;
  const auto tree = [&](std::int32_t leaf) { return cube.grown.forest.tree(leaf); };
  const std::vector<std::int32_t> covers = {3}, nodes = {0};
  const Wanted everywhere{{-1, -1, -1}, {2, 2, 2}, 0}, afar{{1e9, 1e9, 1e9}, {2e9, 2e9, 2e9}, 0};
  for (const Wanted& wanted : {everywhere, afar}) {
    const std::vector<LeafTargets> targets = {LeafTargets::of(wanted, cube.grown.units.length)};
    Selection selection;
    select_cells(cube.grown.top.view(), covers, nodes, {targets, cube.grown.units}, tree, {}, selection);
    const bool is_all = wanted.low.x < 0;
    ASSERT_EQ(selection.cells.size(), is_all ? cube.grown.cells.size() : 1);
    EXPECT_EQ(selection.trees.size(), is_all ? 8u : 0u);

    // The receiver knows the root alone.
    std::vector<Cell> known = {cube.grown.cells[0]};
    known[0].child = -1;
    TopMoments top;
    top.begin(known, OwnLeaves(), {}, cube.grown.units, {});
    TopMoments all = cube.grown.top;
    const Message message{0, pack_let(
                                 selection, [&](std::int32_t node) { return all.cell(node); }, tree)};
    top.take(0, TopSum{});
    top.finish();
    std::vector<SourceTree> trees;
    const std::vector<std::int32_t> covers_there = {-1, -1, -1, 0};
    const LetCounts counts = unpack_let(message, covers_there, top, trees);
    EXPECT_EQ(counts.trees, is_all ? 8 : 0);
    const TopTree there = top.view(), here = all.view();
    ASSERT_EQ(static_cast<std::size_t>(there.nodes), selection.cells.size());
    for (std::int32_t n = 1; n < there.nodes; ++n) {
      const std::int32_t own = selection.cells[static_cast<std::size_t>(n)].node;
      EXPECT_EQ(there.links[n].is_leaf(), here.links[own].is_leaf());
      EXPECT_EQ(there.centre[n], here.centre[own]);
      EXPECT_EQ(std::memcmp(&there.core[n], &here.core[own], sizeof(NodeCore)), 0);
      EXPECT_EQ(std::memcmp(&there.moments[n], &here.moments[own], sizeof(NodeMoments)), 0);
      if (!there.links[n].is_leaf()) continue;
      EXPECT_EQ(trees[static_cast<std::size_t>(top.leaf(n))].nodes, tree(here.links[own].first_leaf).nodes);
    }
  }
}

TEST(LetMessage, of_another_length_is_refused) {
  const Cube cube;
  Selection selection;
  select_nodes(cube.grown.forest.tree(0), 0, std::vector<Receiver>{cube.receiver(0, 1)}, 0, selection);
  TopMoments top = cube.grown.top;
  Message message{0, pack_let(
                         selection, [&](std::int32_t node) { return top.cell(node); },
                         [&](std::int32_t leaf) { return cube.grown.forest.tree(leaf); })};
  message.blocks.resize(message.blocks.size() - 1);
  std::vector<SourceTree> trees;
  EXPECT_THROW(unpack_let(message, {}, top, trees), std::runtime_error);
}

}  // namespace
}  // namespace grove
