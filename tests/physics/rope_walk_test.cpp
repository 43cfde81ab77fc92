// The walk along ropes on the host: against direct summation, and node by node against plain recursion.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/host/rope_walk.hpp"
#include "kernels/math/target_visitor.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

GravityParameters along_ropes(LocalTreeKind tree = LocalTreeKind::bisection) {
  GravityParameters gravity;
  gravity.walk = WalkKind::rope;
  gravity.criterion = Criterion::opening_radius;
  gravity.theta = 0.6;
  gravity.tree = tree;
  gravity.softening.fill(0.02);
  return gravity;
}

/// theta = 1e-6: no node is as far as that.
TEST(RopeWalk, equals_direct_summation_when_everything_is_opened) {
  for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree})
    for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        for (const std::size_t count : {1U, 2U, 33U, 700U}) {
          SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
          GravityParameters gravity = along_ropes(tree);
          gravity.theta = 1e-6;
          gravity.kernel = kernel;
          gravity.softening = {0.02, 0.1};
          Particles particles = make_shape(shape, count);
          for (std::size_t i = 0; i < count; i += 3) particles.type[i] = 1;
          for (std::size_t i = 1; i < count; i += 7) particles.mass[i] = 0;
          const WalkCounts counts = evaluate(particles, gravity, 128);
          // A bucket of one particle, or of a pair at one place, may count as a cell: it has no extent.
          EXPECT_LE(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
          const auto exact = direct_forces(particles, gravity);
          const double extent = shape == Shape::hernquist ? 100 : 5;
          for (std::size_t i = 0; i < count; ++i) {
            const double bound = rounding_bound(particles, gravity, i, extent);
            ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
            ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * extent) << i;
          }
        }
}

/// A step of a walk: a node or particle is told by its mass and the separation.
struct Step {
  char what;
  float mass;
  Vec3f d;
  friend bool operator==(const Step&, const Step&) = default;
};

/// Writes down what a visitor is told.
template <class Visitor>
struct Recorder : Visitor {
  explicit Recorder(const Visitor& visitor) : Visitor(visitor) {}
  void node(const NodeCore& core, const NodeMoments& moments, const Vec3f& d) {
    steps.push_back({'n', core.mass, d});
    Visitor::node(core, moments, d);
  }
  void particle(float mass, float softening, const Vec3f& d) {
    steps.push_back({'p', mass, d});
    Visitor::particle(mass, softening, d);
  }
  std::vector<Step> steps;
};

/// The same way by plain recursion through children, without ropes.
template <class Visitor>
class Recursion {
 public:
  Recursion(const TopTree& top, const std::vector<SourceTree>& trees, const WalkUnits& units,
            const TargetLeaf& leaf, std::int32_t place, const float* softening, Visitor& visitor)
      : top_(top),
        trees_(trees),
        units_(units),
        leaf_(leaf),
        place_(place),
        softening_(softening),
        visitor_(visitor) {}

  void cell(std::int32_t c) {
    const TopLinks& links = top_.links[c];
    if (links.child < 0) {
      node(links.first_leaf, 0);
      return;
    }
    const Vec3f d = shift_between(top_.centre[c], leaf_.origin, units_) - leaf_.particles[place_].position;
    if (!links.holds(leaf_.leaf) && accepts(top_.core[c], d, top_.boxes, c)) {
      visitor_.node(top_.core[c], top_.moments[c], d);
      return;
    }
    cell(links.child);
    cell(links.child + 1);
  }

 private:
  bool accepts(const NodeCore& core, const Vec3f& d, const NodeBox* boxes, std::int32_t n) const {
    if constexpr (Visitor::needs_box)
      return visitor_.accepts(core, d, boxes[n]);
    else
      return visitor_.accepts(core, d);
  }

  void node(std::int32_t leaf, std::int32_t n) {
    const SourceTree& tree = trees_[static_cast<std::size_t>(leaf)];
    const Vec3f shift = shift_between(tree.origin, leaf_.origin, units_);
    const Vec3f target = leaf_.particles[place_].position - shift;
    const NodeLinks& links = tree.links[n];
    const Vec3f d = tree.core[n].centre - target;
    if (accepts(tree.core[n], d, tree.boxes, n)) {
      visitor_.node(tree.core[n], tree.moments[n], d);
    } else if (links.child == NodeLinks::bucket) {
      for (std::int32_t i = links.first; i < links.first + links.count; ++i)
        if (leaf != leaf_.leaf || i != place_)
          visitor_.particle(tree.particles[i].mass, softening_[tree.types[i]],
                            tree.particles[i].position - target);
    } else {
      for (std::int32_t c = links.child, found = 0; found < links.count; ++c) {
        node(leaf, c);
        found += tree.links[c].count;
      }
    }
  }

  const TopTree& top_;
  const std::vector<SourceTree>& trees_;
  const WalkUnits& units_;
  const TargetLeaf& leaf_;
  const std::int32_t place_;
  const float* softening_;
  Visitor& visitor_;
};

/// The pace of a target that goes with one that opens everything.
struct BesideOpener : NextOnWay {
  static bool any(bool) { return true; }
};

/// The same nodes and particles in the same order, alone and beside another target. The forces are those of
/// rope_walk() but for rounding, as it may be compiled with other instructions. Where rounding decides about
/// a node that changes less: some 1e-4 of a force, of which the node is one of hundreds.
template <class Acceptance>
void expect_steps_of_recursion(LocalTreeKind kind, Criterion criterion, Count quantum) {
  using Quadrupoles = TargetVisitor<Acceptance, TargetExpansion<Order::quadrupole, Spline>>;
  GravityParameters gravity = along_ropes(kind);
  gravity.criterion = criterion;
  gravity.delta = 0.002;
  Particles particles = make_shape(Shape::hernquist, 1500);
  const History history(particles, gravity, quantum);
  const Grown& grown = history.grown;
  grown.walk_along_ropes(particles, gravity, history.median);
  const Forest::OwnLeaves own = grown.forest.own_leaves(particles, particles);
  const TopTree top = grown.top.view();
  const RopeForest forest(top, own.trees, {});
  const AcceptanceRule rule = AcceptanceRule::of(gravity, grown.units, history.median);
  const ForceUnits units = ForceUnits::of(gravity, grown.units);
  const std::vector<float> softening(particle_types, static_cast<float>(0.02 / grown.units.length));
  for (std::size_t l = 0; l < own.targets.size(); ++l) {
    const TargetLeaf& leaf = own.targets[l];
    const auto count = static_cast<std::int32_t>(grown.leaf_begin[l + 1] - grown.leaf_begin[l]);
    for (std::int32_t i = 0; i < count; i += 5) {
      const double walked =
          to_walk_acceleration(leaf.old_acceleration[i], gravity.gravitational_constant, grown.units);
      const Quadrupoles fresh(Acceptance(rule.inverse_tolerance(static_cast<float>(walked))),
                              TargetExpansion<Order::quadrupole, Spline>(softening[0]));
      Recorder recorder(fresh), beside(fresh), reference(fresh);
      const HostRopeTrees trees(forest, grown.units, softening.data(), leaf.origin);
      const RopeTarget target{leaf.leaf, i, leaf.particles[i].position};
      RopeWalk walk(trees, target, recorder);
      ASSERT_TRUE(walk.run());
      RopeWalk<HostRopeTrees, decltype(beside), BesideOpener> joint(trees, target, beside);
      ASSERT_TRUE(joint.run());
      Recursion(top, own.trees, grown.units, leaf, i, softening.data(), reference).cell(0);
      ASSERT_EQ(recorder.steps, reference.steps) << "leaf " << l << ", particle " << i;
      // It counts the target itself among the particles.
      ASSERT_EQ(walk.nodes + walk.particles, reference.steps.size() + 1);
      ASSERT_EQ(beside.steps, recorder.steps);
      ASSERT_EQ(joint.nodes, walk.nodes);
      ASSERT_EQ(joint.particles, walk.particles);
      ASSERT_EQ(joint.tests, walk.tests);
      const auto p = static_cast<std::size_t>(grown.leaf_begin[l] + i);
      const Vec3f difference = particles.acceleration[p] - units.acceleration_of(reference.sum.acceleration);
      ASSERT_LE(norm(difference.as<double>()), rounding_bound(particles, gravity, p, 100));
    }
  }
}

TEST(RopeWalk, takes_the_steps_of_plain_recursion) {
  for (const LocalTreeKind kind : {LocalTreeKind::bisection, LocalTreeKind::octree, LocalTreeKind::kd})
    for (const Count quantum : {100, 2000}) {
      for (const Criterion criterion : {Criterion::opening_radius, Criterion::acceleration})
        expect_steps_of_recursion<TargetAcceptance>(kind, criterion, quantum);
      expect_steps_of_recursion<EdgeAcceptance>(kind, Criterion::relative_edge, quantum);
      expect_steps_of_recursion<TargetAcceptance>(kind, Criterion::opening_cell, quantum);
    }
}

TEST(RopeWalk, errors_stay_below_the_bound_of_the_opening_angle) {
  for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree})
    for (const Order order : {Order::monopole, Order::quadrupole, Order::octupole}) {
      GravityParameters gravity = along_ropes(tree);
      gravity.order = order;
      gravity.softening.fill(1e-3);
      Particles particles = make_shape(Shape::hernquist, 2000);
      const WalkCounts counts = evaluate(particles, gravity, 512);
      EXPECT_LT(counts.cell + counts.particle, 2000 * 2000 / 2) << "half of all pairs";
      const auto exact = direct_forces(particles, gravity);
      for (std::size_t i = 0; i < particles.size(); ++i)
        ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration),
                  expansion_bound(particles, gravity, i) + rounding_bound(particles, gravity, i, 100));
    }
}

/// A group's box is as near as its nearest particle and its tolerance is the least of theirs. Where rounding
/// decides otherwise that is one node of hundreds, and groups have twice as many interactions.
TEST(RopeWalk, opens_no_more_than_groups_do) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
        Criterion::relative_edge, Criterion::opening_cell}) {
    GravityParameters gravity = along_ropes();
    gravity.criterion = criterion;
    gravity.delta = 0.002;
    Particles particles = make_shape(Shape::plummer, 2000);
    const History history(particles, gravity, 256);
    history.grown.walk(particles, gravity);
    const std::vector<std::uint32_t> of_groups(particles.work.begin(), particles.work.end());
    const WalkCounts counts = history.grown.walk_along_ropes(particles, gravity, history.median);
    EXPECT_GT(counts.cell, 0);
    for (std::size_t i = 0; i < particles.size(); ++i) ASSERT_LE(particles.work[i], of_groups[i]) << i;
  }
}

/// Trees of other ranks come without what no particle here opens, or not at all.
TEST(RopeWalk, of_absent_trees_takes_the_roots_and_never_opens_them) {
  const GravityParameters gravity = along_ropes();
  Particles particles = make_shape(Shape::clumps, 1500);
  const History history(particles, gravity, 64);
  const Grown& grown = history.grown;
  const Forest::OwnLeaves own = grown.forest.own_leaves(particles, particles);
  std::vector<LeafRoot> roots;
  for (std::int32_t i = 0; i < grown.forest.leaves(); ++i) roots.push_back(grown.forest.root(i));
  grown.walk_along_ropes(particles, gravity, 0);
  const Particles whole = particles;
  int absent = 0;
  for (std::size_t l = 0; l < own.targets.size(); ++l) {
    const TargetLeaf& leaf = own.targets[l];
    std::vector<SourceTree> trees = own.trees;
    for (SourceTree& tree : trees) {
      const Vec3f centre = tree.core[0].centre + shift_between(tree.origin, leaf.origin, grown.units);
      if (!accepts(tree.core[0], leaf.bounds.distance2(centre), 0, selection_margin)) continue;
      tree.nodes = 0;
      ++absent;
    }
    rope_walk({gravity, grown.units}, 0, {grown.top.view(), trees, roots}, {&leaf, 1}, {&own.outputs[l], 1});
  }
  EXPECT_GT(absent, 0);
  EXPECT_EQ(particles.acceleration, whole.acceleration);
  EXPECT_EQ(particles.potential, whole.potential);
  std::vector<SourceTree> none(own.trees.size());
  EXPECT_THROW(
      rope_walk({gravity, grown.units}, 0, {grown.top.view(), none, roots}, own.targets, own.outputs),
      std::logic_error);
}

}  // namespace
}  // namespace grove
