#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "kernels/math/acceptance.hpp"
#include "support/distributions.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

/// The trees of all leaves as one target leaf needs them: nodes that it accepts as a whole lose what is
/// below.
struct PrunedTrees {
  std::vector<Array<NodeLinks>> links;
  std::vector<SourceTree> trees;

  PrunedTrees(const Grown& grown, const TargetLeaf& target, bool prune_all) {
    for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf) {
      SourceTree tree = grown.forest.tree(leaf);
      const Vec3f shift = shift_between(tree.origin, target.origin, grown.units);
      links.emplace_back(tree.links, tree.links + tree.nodes);
      for (std::int32_t n = 0; n < tree.nodes; ++n) {
        const float distance2 = target.bounds.distance2(tree.core[n].centre + shift);
        if (prune_all || accepts(tree.core[n], distance2, target.bounds.inverse_tolerance, selection_margin))
          links.back()[static_cast<std::size_t>(n)].child = NodeLinks::pruned;
      }
      tree.links = links.back().data();
      trees.push_back(tree);
    }
  }
};

struct Problem {
  Particles particles = make_shape(Shape::hernquist, 6000);
  GravityParameters gravity;
  Grown grown;

  Problem(Criterion criterion, SofteningKernel kernel) {
    gravity.kernel = kernel;
    gravity.delta = 0.01;
    gravity.softening.fill(0.03);
    gravity.criterion = Criterion::opening_radius;
    evaluate(particles, gravity, 512);
    const double median = remember_accelerations(particles);
    gravity.criterion = criterion;
    grown.prepare(particles);
    grown.sort(particles, 512);
    grown.build(particles);
    grown.moments(particles, gravity, median);
    grown.walk(particles, gravity);
  }
};

TEST(PrunedTrees, giveTheSameBits) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
        Criterion::relative_edge, Criterion::opening_cell})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
      Problem problem(criterion, kernel);
      Particles pruned = problem.particles;
      for (std::int32_t leaf = 0; leaf < problem.grown.forest.leaves(); ++leaf) {
        const TargetLeaf target = problem.grown.forest.target(leaf);
        const PrunedTrees trees(problem.grown, target, false);
        const SourceTree own = problem.grown.forest.tree(leaf);
        const ForceOutput output = problem.grown.forest.output(leaf, pruned);
        const WalkSetup setup{problem.gravity, problem.grown.units};
        walk_own(setup, {&target, 1}, {&own, 1}, {&output, 1});
        walk_others(setup, {&target, 1}, problem.grown.top.view(), trees.trees, {&output, 1});
      }
      EXPECT_EQ(pruned.acceleration, problem.particles.acceleration);
      EXPECT_EQ(pruned.potential, problem.particles.potential);
      EXPECT_EQ(pruned.work, problem.particles.work);
    }
}

TEST(PrunedTrees, mayNotBeOpened) {
  Problem problem(Criterion::acceleration, SofteningKernel::spline);
  const TargetLeaf target = problem.grown.forest.target(0);
  const ForceOutput output = problem.grown.forest.output(0, problem.particles);
  PrunedTrees trees(problem.grown, target, true);
  const WalkSetup setup{problem.gravity, problem.grown.units};
  EXPECT_THROW(walk_others(setup, {&target, 1}, problem.grown.top.view(), trees.trees, {&output, 1}),
               OpensPruned);
  for (SourceTree& tree : trees.trees) tree.nodes = 0;
  EXPECT_THROW(walk_others(setup, {&target, 1}, problem.grown.top.view(), trees.trees, {&output, 1}),
               OpensPruned);
}

}  // namespace
}  // namespace grove
