#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "forest/check.hpp"
#include "kernels/math/octupole.hpp"
#include "kernels/math/tree_renewal.hpp"
#include "support/active_leaves.hpp"
#include "support/distributions.hpp"
#include "support/grown.hpp"
#include "support/grown_checks.hpp"
#include "support/halved_cells.hpp"

namespace grove {
namespace {

using testing::all_shapes;
using testing::expect_sound;
using testing::Grown;
using testing::make_shape;
using testing::name_of;
using testing::Shape;

Grown grow(Particles& particles, const GravityParameters& gravity, Count quantum) {
  Grown grown;
  grown.prepare(particles);
  grown.sort(particles, quantum);
  grown.build(particles);
  grown.moments(particles, gravity, 0);
  return grown;
}

GravityParameters opening(Criterion criterion) {
  GravityParameters gravity;
  gravity.criterion = criterion;
  gravity.softening = {0.01, 0.01, 0.05, 0, 0, 0};
  return gravity;
}

/// As GPUs take them for granted.
void expect_full_groups(const Grown& grown) {
  for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf) {
    const TargetLeaf target = grown.forest.target(leaf);
    for (std::int32_t g = 0; g + 1 < target.group_count; ++g) ASSERT_EQ(target.groups[g].count, group_size);
  }
}

TEST(Forest, isSoundForAllShapesAndSizes) {
  for (const Shape shape : all_shapes)
    for (const std::size_t count : {1U, 2U, 7U, 33U, 4097U}) {
      SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
      Particles particles = make_shape(shape, count);
      const GravityParameters gravity = opening(Criterion::opening_radius);
      expect_sound(grow(particles, gravity, 4096), gravity);
      const Grown grown = grow(particles, gravity, 64);
      expect_sound(grown, gravity);
      expect_full_groups(grown);
    }
}

TEST(Forest, isSoundWithMixedSofteningAndMassless) {
  Particles particles = testing::make_mixed_clumps(3000);
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
        Criterion::relative_edge, Criterion::opening_cell}) {
    const GravityParameters gravity = opening(criterion);
    expect_sound(grow(particles, gravity, 1024), gravity);
  }
}

TEST(Forest, isSoundWhenParticlesHaveMoved) {
  Particles particles = make_shape(Shape::clumps, 3000);
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.type[i] = static_cast<std::uint8_t>(1 + particles.id[i] % 2);
  const GravityParameters gravity = opening(Criterion::acceleration);
  Grown grown = grow(particles, gravity, 1024);
  const Vec3d origin = grown.forest.tree(0).origin;
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.position[i] += Vec3d{0.01 * std::sin(static_cast<double>(i)), 0.3, 0};
  grown.moments(particles, gravity, 0);
  expect_sound(grown, gravity);
  EXPECT_EQ(grown.forest.tree(0).origin, origin);
  const SourceParticle* sources = grown.forest.tree(0).particles;
  for (std::size_t i = 0; i < static_cast<std::size_t>(grown.leaf_begin[1]); ++i) {
    const Vec3d place = (particles.position[i] - origin) * (1 / grown.units.length);
    ASSERT_EQ(sources[i].position, place.as<float>()) << i;
    ASSERT_EQ(sources[i].mass, static_cast<float>(particles.mass[i] / grown.units.mass)) << i;
  }
}

TEST(Forest, keepsEveryParticle) {
  Particles particles = make_shape(Shape::hernquist, 5000);
  const GravityParameters gravity = opening(Criterion::opening_radius);
  std::vector<Vec3d> by_id(particles.size() + 1);
  for (std::size_t i = 0; i < particles.size(); ++i) by_id[particles.id[i]] = particles.position[i];
  grow(particles, gravity, 1024);
  std::vector<int> seen(by_id.size(), 0);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    ++seen[particles.id[i]];
    EXPECT_EQ(particles.position[i], by_id[particles.id[i]]);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 5000);
}

/// Bit for bit the tree of a leaf, and what walks see of it as targets.
void expect_same(const Forest& a, const Forest& b, std::int32_t leaf) {
  const SourceTree tree = a.tree(leaf), same = b.tree(leaf);
  EXPECT_EQ(tree.origin, same.origin);
  ASSERT_EQ(tree.nodes, same.nodes);
  const auto is_same = [](const auto* x, const auto* y, std::int32_t count) {
    return std::memcmp(x, y, static_cast<std::size_t>(count) * sizeof(*x)) == 0;
  };
  EXPECT_TRUE(is_same(tree.core, same.core, tree.nodes));
  EXPECT_TRUE(is_same(tree.moments, same.moments, tree.nodes));
  EXPECT_TRUE(is_same(tree.links, same.links, tree.nodes));
  const std::int32_t particles = tree.links[0].count;
  EXPECT_TRUE(is_same(tree.particles, same.particles, particles));
  EXPECT_TRUE(is_same(tree.types, same.types, particles));
  const TargetLeaf targets = a.target(leaf), same_targets = b.target(leaf);
  ASSERT_EQ(targets.group_count, same_targets.group_count);
  EXPECT_TRUE(is_same(targets.groups, same_targets.groups, targets.group_count));
}

TEST(TreeRenewal, isForAQuarterOfTheParticlesOrFewer) {
  EXPECT_TRUE(TreeRenewal::are_few(1000, 250));
  EXPECT_FALSE(TreeRenewal::are_few(1000, 251));
  EXPECT_TRUE(TreeRenewal::are_enough(1000, 13, 10));  // an eighth of a leaf of 100 is 12.5
  EXPECT_FALSE(TreeRenewal::are_enough(1000, 12, 10));
}

TEST(TreeRenewal, takesLeavesOfWhichAQuarterIsActive) {
  EXPECT_TRUE(TreeRenewal::takes(100, 25));
  EXPECT_FALSE(TreeRenewal::takes(100, 24));
  EXPECT_TRUE(TreeRenewal::takes(1, 1));
  EXPECT_FALSE(TreeRenewal::takes(1, 0));
  EXPECT_FALSE(TreeRenewal::takes(0, 0));
}

/// The trees that are taken become those that build() makes where the particles are now; all others keep
/// their particles' order.
TEST(Forest, renewsTheTreesOfActiveLeaves) {
  Particles particles = make_shape(Shape::plummer, 3000);
  for (std::size_t i = 0; i < particles.size(); ++i)  // of two softening lengths
    particles.type[i] = static_cast<std::uint8_t>(1 + particles.id[i] % 2);
  const GravityParameters gravity = opening(Criterion::acceleration);
  Grown grown = grow(particles, gravity, 256);
  const std::vector<bool> taken = testing::activate_leaves(grown.leaf_begin, 3, particles);
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.position[i] += Vec3d{0.2 * std::sin(static_cast<double>(particles.id[i])), 0.1, 0};
  const Particles moved = particles;
  Particles in_new_trees = moved;
  Forest fresh;
  fresh.build(in_new_trees, grown.box, grown.leaf_begin);
  fresh.update(in_new_trees, gravity, grown.units, 0);

  grown.forest.renew(particles, 3);
  grown.forest.update(particles, gravity, grown.units, 0);
  for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf) {
    SCOPED_TRACE("leaf " + std::to_string(leaf));
    const auto l = static_cast<std::size_t>(leaf);
    const Particles& expected = taken[l] ? in_new_trees : moved;
    for (auto i = static_cast<std::size_t>(grown.leaf_begin[l]);
         i < static_cast<std::size_t>(grown.leaf_begin[l + 1]); ++i) {
      ASSERT_EQ(particles.id[i], expected.id[i]);
      ASSERT_EQ(particles.position[i], expected.position[i]);
      ASSERT_EQ(particles.type[i], expected.type[i]);
      ASSERT_EQ(particles.rung[i], expected.rung[i]);
    }
    if (!taken[l]) continue;
    expect_same(grown.forest, fresh, leaf);
  }
  EXPECT_NE(particles.id, moved.id);
}

/// Every particle left of a cut comes before every one that is right of it, along the longest side of both.
void expect_cut(const Grown& grown, const Particles& particles, std::size_t begin, const CountedCut& cut) {
  const auto key = [&](std::size_t i, int axis) {
    const std::size_t p = begin + cut.first + i;
    return std::pair(grown.box.coordinates(particles.position[p])[axis], particles.id[p]);
  };
  IntegerPosition low{~0U, ~0U, ~0U}, high{0, 0, 0};
  for (std::size_t i = 0; i < cut.count; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], key(i, axis).first);
      high[axis] = std::max(high[axis], key(i, axis).first);
    }
  const int axis = longest_axis(low, high);
  auto last_left = key(0, axis), first_right = key(cut.left, axis);
  for (std::size_t i = 0; i < cut.left; ++i) last_left = std::max(last_left, key(i, axis));
  for (std::size_t i = cut.left; i < cut.count; ++i) first_right = std::min(first_right, key(i, axis));
  EXPECT_LT(last_left, first_right);
}

/// A domain cell of which a quarter is active is cut to leaves anew, and these have the trees of such leaves;
/// all others keep their particles. In a lattice many coordinates are equal.
TEST(Forest, renewsActiveDomainCells) {
  for (const Shape shape : {Shape::plummer, Shape::lattice}) {
    Particles particles = make_shape(shape, 4000);
    const GravityParameters gravity = opening(Criterion::acceleration);
    Grown grown = grow(particles, gravity, 256);
    const DomainCells cells = testing::halved_cells(grown.leaf_begin, 1, 5);
    ASSERT_EQ(cells.cells.size(), 3U);
    // A quarter of the first one and of each of its leaves, fewer of the second, none of the third.
    for (std::size_t i = 0; i < cells.cells[0].count; i += 4) particles.rung[cells.cells[0].first + i] = 3;
    for (std::size_t i = 0; i < cells.cells[1].count; i += 5) particles.rung[cells.cells[1].first + i] = 3;
    for (std::size_t i = 0; i < particles.size(); ++i)
      particles.position[i] = particles.position[i] * (1 + 0.125 * static_cast<double>(particles.id[i] % 3));
    const Particles moved = particles;

    grown.forest.renew(particles, 3, cells.view());
    grown.forest.update(particles, gravity, grown.units, 0);
    const DomainCell& taken = cells.cells[0];
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (i < taken.first || i >= taken.first + taken.count) {
        ASSERT_EQ(particles.id[i], moved.id[i]);
        ASSERT_EQ(particles.position[i], moved.position[i]);
      }
    EXPECT_NE(particles.id, moved.id);
    EXPECT_TRUE(std::is_permutation(particles.id.begin(), particles.id.end(), moved.id.begin()));
    for (std::uint32_t c = 0; c < taken.cuts; ++c)
      expect_cut(grown, particles, taken.first, cells.cuts[taken.first_cut + c]);
    Particles again = particles;
    Forest fresh;
    fresh.build(again, grown.box, grown.leaf_begin);
    fresh.update(again, gravity, grown.units, 0);
    for (std::int32_t leaf = taken.first_leaf; leaf < taken.first_leaf + taken.leaves; ++leaf)
      expect_same(grown.forest, fresh, leaf);
  }
}

TEST(Forest, doesNotDependOnTheOrderOfParticles) {
  Particles particles = make_shape(Shape::lattice, 3000), reversed = particles;
  std::vector<std::uint32_t> order(particles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(order.size() - 1 - i);
  reversed.reorder(order);
  const GravityParameters gravity = opening(Criterion::opening_radius);
  grow(particles, gravity, 512);
  grow(reversed, gravity, 512);
  EXPECT_EQ(particles.id, reversed.id);
}

TEST(Forest, followsParticlesThatMove) {
  Particles particles = make_shape(Shape::plummer, 2000);
  const GravityParameters gravity = opening(Criterion::opening_edge);
  Grown grown = grow(particles, gravity, 512);
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.position[i] += Vec3d{0.01, -0.02, 0.005} * static_cast<double>(i % 7);
  grown.moments(particles, gravity, 0);
  expect_sound(grown, gravity);
}

/// Every node of the top tree against sums over all particles below it. The leaves' roots are in single
/// precision: masses to 6e-8, centres to 6e-8 of the leaf's size, after at most three roundings; moments are
/// products of two such lengths and a mass.
TEST(TopMoments, agreeWithSumsOverParticles) {
  Particles particles = make_shape(Shape::hernquist, 4000);
  const GravityParameters gravity = opening(Criterion::opening_edge);
  const Grown grown = grow(particles, gravity, 128);
  const TopTree top = grown.top.view();
  ASSERT_GT(top.nodes, 30);
  for (std::int32_t n = 0; n < top.nodes; ++n) {
    const Cell& cell = grown.cells[static_cast<std::size_t>(n)];
    double mass = 0, xy = 0, trace = 0, radius = 0;
    Vec3d centre{0, 0, 0};
    for (auto i = static_cast<std::size_t>(cell.first); i < static_cast<std::size_t>(cell.first + cell.count);
         ++i) {
      mass += particles.mass[i];
      centre += particles.position[i] * particles.mass[i];
    }
    centre *= 1 / mass;
    for (auto i = static_cast<std::size_t>(cell.first); i < static_cast<std::size_t>(cell.first + cell.count);
         ++i) {
      const Vec3d d = particles.position[i] - centre;
      xy += particles.mass[i] * d.x * d.y;
      trace += particles.mass[i] * norm2(d);
      radius = std::max(radius, norm(d));
    }
    const double length = grown.units.length, unit = grown.units.mass * length * length;
    EXPECT_NEAR(top.core[n].mass * grown.units.mass, mass, 2e-7 * mass);
    EXPECT_LT(norm(top.centre[n] - centre), 2e-7 * radius);
    EXPECT_NEAR(top.moments[n].xy * unit, xy, 5e-7 * trace);
    EXPECT_GE(top.core[n].radius * length, radius * (1 - 2e-7));
    EXPECT_LE(top.core[n].radius * length, 2 * radius);  // sqrt(3) at most by the corner of the box
    EXPECT_GE(top.core[n].reach2, top.core[n].radius * top.core[n].radius);
  }
}

std::array<double, 7> components(const Octupole<double>& o) {
  return {o.xxx, o.xxy, o.xyy, o.yyy, o.xxz, o.xyz, o.yyz};
}

/// A cell adds the packed octupoles of its halves to what these have about its own centre, and is packed
/// itself: the errors of its halves add up, and packing adds 1/127 of its largest component. Centres and
/// second moments are off by roundings as above, of which the largest meets the third power of the radius.
TEST(TopMoments, haveOctupolesOfTheirParticles) {
  Particles particles = make_shape(Shape::hernquist, 4000);
  GravityParameters gravity = opening(Criterion::opening_radius);
  gravity.order = Order::octupole;
  const Grown grown = grow(particles, gravity, 128);
  const TopTree top = grown.top.view();
  ASSERT_GT(top.nodes, 30);
  std::vector<double> off(static_cast<std::size_t>(top.nodes));  // at most
  for (std::int32_t n = top.nodes; n-- > 0;) {                   // halves lie behind their cells
    const Cell& cell = grown.cells[static_cast<std::size_t>(n)];
    const double length = grown.units.length;
    ThirdMoments third;
    for (auto i = static_cast<std::size_t>(cell.first); i < static_cast<std::size_t>(cell.first + cell.count);
         ++i)
      third.add(particles.mass[i] / grown.units.mass, (particles.position[i] - top.centre[n]) * (1 / length));
    const auto expected = components(third.octupole()),
               found = components(octupole_of(top.moments[n]).unpacked<double>());
    double largest = 0, worst = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      largest = std::max(largest, std::abs(expected[k]));
      worst = std::max(worst, std::abs(found[k] - expected[k]));
    }
    const double radius = top.core[n].radius, rounding = 1e-6 * top.core[n].mass * radius * radius * radius;
    if (top.links[n].is_leaf()) {
      off[static_cast<std::size_t>(n)] = worst;  // as check.hpp looks at the trees of leaves
      continue;
    }
    const auto child = static_cast<std::size_t>(top.links[n].child);
    const double of_halves = off[child] + off[child + 1];
    off[static_cast<std::size_t>(n)] = of_halves + (largest + of_halves) / 127 + rounding;
    EXPECT_LE(worst, off[static_cast<std::size_t>(n)]) << "cell " << n;
    EXPECT_LT(of_halves, 0.5 * largest + rounding) << "a bound that says nothing, cell " << n;
  }
}

}  // namespace
}  // namespace grove
