#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

/// Every node is opened: nothing is farther than b/theta = 1e6 b, and no b is as small as 1e-6 of the box.
GravityParameters everything_opened(SofteningKernel kernel, double softening) {
  GravityParameters gravity = gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, softening);
  gravity.theta = 1e-6;
  return gravity;
}

/// quantum: particles in a leaf.
void expect_direct_sums(Shape shape, std::size_t count, const GravityParameters& gravity, Count quantum) {
  SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
  Particles particles = make_shape(shape, count);
  const WalkCounts counts = evaluate(particles, gravity, quantum);
  // A bucket of one particle may count as a cell: it has no extent. An octree may have buckets of a pair, a
  // kd-tree nodes of what coincides in single precision.
  const bool all_count = gravity.tree == LocalTreeKind::bisection ||
                         (gravity.tree == LocalTreeKind::octree && shape != Shape::pairs);
  const auto interactions = static_cast<std::int64_t>(count * count);
  EXPECT_LE(counts.cell + counts.particle, interactions);
  EXPECT_TRUE(!all_count || counts.cell + counts.particle == interactions);
  const auto exact = direct_forces(particles, gravity);
  const double extent = shape == Shape::hernquist ? 100 : 5;
  for (std::size_t i = 0; i < count; ++i) {
    const double bound = rounding_bound(particles, gravity, i, extent);
    ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound);
    // The potential is a sum of the same pairs, its relative error smaller, in units of m/r.
    ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * extent);
    ASSERT_TRUE(!all_count || particles.work[i] == count);
  }
}

TEST(Walk, equalsDirectSummationWhenEverythingIsOpened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const std::size_t count : {1U, 2U, 7U, 33U, 1500U})
        expect_direct_sums(shape, count, everything_opened(kernel, 0.02), 256);
}

TEST(Walk, ofOctreesEqualsDirectSummationWhenEverythingIsOpened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const Count quantum : {256, 4096})
      for (const std::size_t count : {1U, 2U, 7U, 33U, 1500U})
        for (const double critical_separation : {0.0, 1e-9, 0.1}) {
          GravityParameters gravity = everything_opened(SofteningKernel::spline, 0.02);
          gravity.tree = LocalTreeKind::octree;
          gravity.critical_separation = critical_separation;
          expect_direct_sums(shape, count, gravity, quantum);
        }
}

TEST(Walk, ofKdTreesEqualsDirectSummationWhenEverythingIsOpened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const Count bucket : {1, 5, 8, 32})
      for (const std::size_t count : {1U, 2U, 33U, 1500U}) {
        GravityParameters gravity = everything_opened(SofteningKernel::spline, 0.02);
        gravity.tree = LocalTreeKind::kd;
        gravity.bucket = bucket;
        expect_direct_sums(shape, count, gravity, bucket == 8 ? 256 : 4096);
      }
}

/// Bisections with groups of one to four buckets.
class UnevenGroups : public TreeBuilder {
 public:
  void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
             const double* mass, TreeShapes& shapes) const override {
    bisection_builder().build(leaf_begin, records, id, mass, shapes);
  }
  void group(std::span<const Count> leaf_begin, TreeShapes& shapes) const override {
    shapes.groups.clear();
    shapes.group_begin.assign(1, 0);
    for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
      const auto count = static_cast<std::int32_t>(leaf_begin[leaf + 1] - leaf_begin[leaf]);
      for (std::int32_t first = 0, buckets = 1; first < count; buckets = buckets % 4 + 1) {
        shapes.groups.push_back({first, std::min(buckets * bucket_size, count - first)});
        first += shapes.groups.back().count;
      }
      shapes.group_begin.push_back(static_cast<Count>(shapes.groups.size()));
    }
  }
};

/// Groups need not be cells of the tree.
TEST(Walk, takes_groups_as_their_builder_makes_them) {
  for (const double theta : {1e-6, 0.5}) {
    GravityParameters gravity =
        gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.02);
    gravity.theta = theta;
    Particles particles = make_shape(Shape::clumps, 1500);
    Grown grown;
    grown.prepare(particles, 0.02);
    grown.sort(particles, 256);
    grown.build(particles, UnevenGroups());
    grown.moments(particles, gravity, 0);
    EXPECT_EQ(grown.forest.target(0).groups[1].count, 2 * bucket_size);
    grown.walk(particles, gravity);
    const auto exact = direct_forces(particles, gravity);
    for (std::size_t i = 0; i < particles.size(); ++i)
      ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration),
                expansion_bound(particles, gravity, i) + rounding_bound(particles, gravity, i, 5));
  }
}

/// The halo of a Hernquist sphere has groups that reach over its core.
TEST(Walk, hasFewerInteractionsWhereGroupsOfOctreesAreSplit) {
  GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.01);
  gravity.theta = 0.7;
  gravity.tree = LocalTreeKind::octree;
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  for (const double critical_separation : {0.0, 1.0, 0.1, 1e-6}) {
    SCOPED_TRACE(critical_separation);
    gravity.critical_separation = critical_separation;
    Particles particles = make_shape(Shape::hernquist, 3000);
    const WalkCounts counts = evaluate(particles, gravity, 3000);
    EXPECT_LT(counts.cell + counts.particle, before);
    before = counts.cell + counts.particle;
    const auto exact = direct_forces(particles, gravity);
    for (std::size_t i = 0; i < particles.size(); ++i)
      ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration),
                expansion_bound(particles, gravity, i) + rounding_bound(particles, gravity, i, 100));
  }
}

/// Momentum is conserved pair by pair when everything is opened, so what remains is rounding.
TEST(Walk, hasNoNetForceWhenEverythingIsOpened) {
  Particles particles = make_shape(Shape::plummer, 2000);
  const GravityParameters gravity = everything_opened(SofteningKernel::spline, 0.05);
  evaluate(particles, gravity, 256);
  Vec3d net{0, 0, 0};
  double bound = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    net += particles.acceleration[i].as<double>() * particles.mass[i];
    bound += rounding_bound(particles, gravity, i, 100) * particles.mass[i];
  }
  EXPECT_LE(norm(net), bound);
}

/// The largest b/d of an accepted node. A cell of edge l has its centre of mass at most s from its middle and
/// so b <= s + sqrt(3)/2 l; accepted at d > l/theta + s. It holds at least 8 particles, of a density that
/// changes little from side to side, so s < l/2.
double largest_ratio(Criterion criterion, double theta) {
  return criterion == Criterion::opening_radius ? theta : (0.5 + std::sqrt(0.75)) / (1 / theta + 0.5);
}

/// Errors of the opening angle, whatever the trees.
void expect_below_the_bound(GravityParameters gravity) {
  Particles particles = make_shape(Shape::hernquist, 3000);
  double before = std::numeric_limits<double>::infinity();
  for (const double theta : {0.6, 0.4, 0.25}) {
    gravity.theta = theta;
    evaluate(particles, gravity, 512);
    const auto exact = direct_forces(particles, gravity);
    GravityParameters largest = gravity;
    largest.theta = largest_ratio(gravity.criterion, theta);
    for (std::size_t i = 0; i < particles.size(); i += 4)  // each bound is a sum over all particles
      ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration),
                expansion_bound(particles, largest, i) + rounding_bound(particles, gravity, i, 100));
    // As theta^2, theta^3 or theta^4; 30 of the particles lie beyond the percentile, so it is known to
    // 1/sqrt(30).
    const double p99 = percentile(relative_errors(particles, exact), 0.99);
    const int power = first_left_out(gravity.order);
    EXPECT_LT(p99 * std::pow(theta, -power), before * (1 + 1 / std::sqrt(30)));
    before = p99 * std::pow(theta, -power);
  }
}

TEST(Walk, errorsStayBelowTheBoundOfTheOpeningAngle) {
  for (const Criterion criterion : {Criterion::opening_radius, Criterion::opening_edge})
    for (const Order order : {Order::monopole, Order::quadrupole, Order::octupole})
      expect_below_the_bound(gravity_of(criterion, order, SofteningKernel::spline, 1e-3));
}

TEST(Walk, errorsOfOctreesStayBelowTheBoundOfTheOpeningAngle) {
  for (const Curve curve : {Curve::hilbert, Curve::morton})
    for (const Order order : {Order::monopole, Order::quadrupole}) {
      GravityParameters gravity = gravity_of(Criterion::opening_radius, order, SofteningKernel::spline, 1e-3);
      gravity.tree = LocalTreeKind::octree;
      gravity.curve = curve;
      expect_below_the_bound(gravity);
    }
}

/// The same opening leaves out terms whose ratio is that of node_error() times b/d, at most theta; later
/// terms add to all alike. Packed octupoles are off by 1/127 of what the order before leaves out.
TEST(Walk, moreMomentsReduceErrorsByTheOpeningAngle) {
  for (const double theta : {0.6, 0.3}) {
    double p99[3];
    for (const Order order : {Order::monopole, Order::quadrupole, Order::octupole}) {
      Particles particles = make_shape(Shape::hernquist, 6000);
      GravityParameters gravity = gravity_of(Criterion::opening_radius, order, SofteningKernel::spline, 0.02);
      gravity.theta = theta;
      evaluate(particles, gravity, 1024);
      p99[static_cast<int>(order)] =
          percentile(relative_errors(particles, direct_forces(particles, gravity)), 0.99);
    }
    EXPECT_LT(p99[1] / p99[0], theta * node_error(Order::quadrupole) / node_error(Order::monopole));
    EXPECT_LT(p99[2] / p99[1],
              theta * node_error(Order::octupole) / node_error(Order::quadrupole) + 1. / 127);
  }
}

struct Case {
  Criterion criterion;
  Order order;
  SofteningKernel kernel;
};

class WalkCase : public ::testing::TestWithParam<Case> {};

double accuracy_of(Criterion criterion, bool fine) {
  switch (criterion) {
    case Criterion::opening_edge:
    case Criterion::opening_radius:
    case Criterion::opening_cell:
      return fine ? 0.3 : 0.6;
    case Criterion::multipole:
      return fine ? 1e-4 : 1e-3;
    case Criterion::acceleration:
    case Criterion::relative_edge:
      return fine ? 1e-3 : 1e-2;
  }
  return 0;
}

/// Bound of the 99th percentile of errors, as parts of what Delta is a part of.
///
/// acceleration: a node leaves out node_error() times q Delta |a|, q = m b^n/(d^(n+2) Delta |a|) < 1. It was
/// reached because its parent, of twice the mass and volume, had q > 1: q lies between 1/2^(1 + n/3) and 1,
/// its logarithm evenly, so its root mean square is 0.6. d is taken from the nearest point of the group's
/// box: the distances of particles are larger, which covers the later terms. relative_edge: likewise, as b is
/// at most 0.87 l in an evenly filled box. multipole: what a node leaves out is below Delta times the median
/// |a| if the terms of all its particles point the same way, 3 m <y^2>/d^4; over all directions it is sqrt(3)
/// of its quadrupole, 0.63 m <y^2> as in node_error() (0.39 by chance, 0.5 by shape): 0.36 of that, for
/// either order.
double percentile_bound(const Case& c, double delta, double cells) {
  const double node = c.criterion == Criterion::multipole ? 0.36 : node_error(c.order);
  return percentile_99 * std::sqrt(cells) * 0.6 * node * delta;
}

/// Errors of the accelerations over the median |a|, sorted.
std::vector<double> errors_over_median(const Particles& particles, const std::vector<DirectForce>& exact) {
  std::vector<double> errors, sizes;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    errors.push_back(norm(particles.acceleration[i].as<double>() - exact[i].acceleration));
    sizes.push_back(norm(exact[i].acceleration));
  }
  std::sort(errors.begin(), errors.end());
  std::sort(sizes.begin(), sizes.end());
  for (double& e : errors) e /= sizes[sizes.size() / 2];
  return errors;
}

TEST_P(WalkCase, errorsFallWithTheAccuracyParameter) {
  const Case c = GetParam();
  double p99[2];
  WalkCounts counts[2];
  for (const bool fine : {false, true}) {
    Particles particles = make_shape(Shape::hernquist, 6000);
    GravityParameters gravity = gravity_of(c.criterion, c.order, c.kernel, 0.02);
    gravity.theta = gravity.delta = accuracy_of(c.criterion, fine);
    if (gravity.needs_old_acceleration()) gravity.theta = 0.6;
    counts[fine] = evaluate(particles, gravity, 1024);
    EXPECT_EQ(counts[fine].expanded > 0, gravity.expansion_excess() < no_expansion);
    EXPECT_LT(counts[fine].expanded, counts[fine].cell);
    const auto exact = direct_forces(particles, gravity);
    p99[fine] = percentile(c.criterion == Criterion::multipole ? errors_over_median(particles, exact)
                                                               : relative_errors(particles, exact),
                           0.99);
    if (gravity.needs_old_acceleration()) {
      const double cells = static_cast<double>(counts[fine].cell) / 6000;
      EXPECT_LT(p99[fine], percentile_bound(c, gravity.delta, cells));
    }
  }
  // Half the angle: theta^2 or theta^3. A tenth of Delta: a tenth of each node's error and less than ten
  // times the nodes, of random signs, so Delta^(1/2) at least.
  EXPECT_LT(p99[1], 0.32 * p99[0]);
  EXPECT_GT(counts[1].cell + counts[1].particle, counts[0].cell + counts[0].particle);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole,
                                    Criterion::acceleration, Criterion::relative_edge})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        cases.push_back({criterion, order, kernel});
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    cases.push_back({criterion, Order::octupole, SofteningKernel::spline});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, WalkCase, ::testing::ValuesIn(all_cases()));

/// The same physics in other units gives the same bits: lengths times 2^80, masses times 2^100.
TEST(Walk, doesNotDependOnUnits) {
  Particles particles = make_shape(Shape::hernquist, 2000), scaled = particles;
  GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline, 1e-3);
  evaluate(particles, gravity, 256);
  const double length = std::ldexp(1.0, 80), mass = std::ldexp(1.0, 100);
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    scaled.position[i] *= length;
    scaled.mass[i] *= mass;
  }
  gravity.softening.fill(1e-3 * length);
  evaluate(scaled, gravity, 256);
  const auto factor = static_cast<float>(mass / length / length);
  for (std::size_t i = 0; i < particles.size(); ++i)
    ASSERT_EQ(scaled.acceleration[i], particles.acceleration[i] * factor);
}

}  // namespace
}  // namespace grove
