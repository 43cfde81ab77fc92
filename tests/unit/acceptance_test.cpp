#include "kernels/math/acceptance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace grove {
namespace {

NodeCore node_of(float mass, float radius) { return {{0, 0, 0}, mass, radius, 0.01F, 0, 0}; }

AcceptanceRule rule_of(Criterion criterion, Order order, double accuracy, double median = 1) {
  GravityParameters gravity;
  gravity.criterion = criterion;
  gravity.order = order;
  gravity.theta = gravity.delta = accuracy;
  return AcceptanceRule::of(gravity, WalkUnits{}, median);
}

bool accepted(NodeCore node, const AcceptanceRule& rule, double d, float a = 1, float edge = 0,
              float offset = 0, float second = 0) {
  rule.prepare(node, edge, offset, second);
  const auto distance2 = static_cast<float>(d * d);
  return accepts(node, distance2, rule.inverse_tolerance(a), 0);
}

/// Accepted just outside the distance, opened just inside it; a dozen roundings of 6e-8 in the squares, and
/// the margin of 1e-6, shift it by less than 2e-6.
void expect_reach(const NodeCore& node, const AcceptanceRule& rule, double d, float a = 1, float edge = 0,
                  float offset = 0, float second = 0) {
  EXPECT_TRUE(accepted(node, rule, d * (1 + 2e-6), a, edge, offset, second));
  EXPECT_FALSE(accepted(node, rule, d * (1 - 2e-6), a, edge, offset, second));
}

TEST(Acceptance, openingAngles) {
  expect_reach(node_of(1, 0.5F), rule_of(Criterion::opening_radius, Order::monopole, 0.4), 0.5 / 0.4);
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_cell})
    expect_reach(node_of(1, 0.5F), rule_of(criterion, Order::monopole, 0.4), 0.7 / 0.4 + 0.1, 1, 0.7F, 0.1F);
}

TEST(Acceptance, accelerationBoundsTheNextTerm) {
  const double delta = 1e-3, m = 0.02, b = 0.3, a = 0.7;
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::acceleration, Order::monopole, delta),
               std::pow(m * b * b / (delta * a), 0.25), 0.7F);
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::acceleration, Order::quadrupole, delta),
               std::pow(m * b * b * b / (delta * a), 0.2), 0.7F);
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::acceleration, Order::octupole, delta),
               std::pow(m * b * b * b * b / (delta * a), 1. / 6), 0.7F);
}

TEST(Acceptance, octupolesActBeyondAllSofteningOnly) {
  GravityParameters gravity;
  gravity.order = Order::octupole;
  gravity.softening = {0, 0.01, 0.1, 0.02, 0, 0};
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole,
                                    Criterion::acceleration, Criterion::opening_cell}) {
    gravity.criterion = criterion;
    const WalkUnits units{0.5, 1};
    expect_reach(node_of(1e-9F, 1e-4F), AcceptanceRule::of(gravity, units, 1), 0.28 / 0.5, 1e6F);
  }
}

TEST(Acceptance, relativeEdgeBoundsTheNextTermOutsideOfABallAboutTheBox) {
  const double delta = 1e-3, m = 0.02, l = 0.5, a = 0.7;
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::relative_edge, Order::quadrupole, delta),
               std::pow(m * l * l / (delta * a), 0.25), 0.7F, 0.5F);
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::relative_edge, Order::monopole, 1e6),
               0.6 * std::sqrt(3) * l + 0.1, 0.7F, 0.5F, 0.1F);
}

TEST(Acceptance, boxesAreWidenedByATenthOfTheirSides) {
  const NodeBox box{{-1, -1, -4}, {1, 3, 2}};  // middle 0, 1, -1; sides 2, 4, 6
  const auto is_far = [&](float x, float y, float z) { return box.is_far_from({-x, -y, -z}); };
  EXPECT_FALSE(is_far(1.19F, 3.39F, -4.59F));
  EXPECT_FALSE(is_far(-1.19F, -1.39F, 2.59F));
  EXPECT_TRUE(is_far(1.21F, 1, -1));
  EXPECT_TRUE(is_far(0, -1.41F, -1));
  EXPECT_TRUE(is_far(0, 1, 2.61F));
}

TEST(Acceptance, multipoleFollowsWarrenAndSalmon) {
  const double delta = 1e-3, median = 2, b = 0.3, b2 = 0.001;
  expect_reach(node_of(0.02F, 0.3F), rule_of(Criterion::multipole, Order::monopole, delta, median),
               b / 2 + std::sqrt(b * b / 4 + std::sqrt(3 * b2 / (delta * median))), 1, 0, 0, 0.001F);
}

TEST(Acceptance, neverFromInside) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
        Criterion::relative_edge, Criterion::opening_cell}) {
    const AcceptanceRule rule = rule_of(criterion, Order::quadrupole, 1e6);
    EXPECT_FALSE(accepted(node_of(1e-6F, 0.5F), rule, 0.4999, 1e6F));
  }
}

TEST(Acceptance, opensMixedSofteningWithinTheSpline) {
  NodeCore node = node_of(1, 0.001F);
  const AcceptanceRule rule = rule_of(Criterion::opening_radius, Order::quadrupole, 0.5);
  EXPECT_TRUE(accepted(node, rule, 0.01));
  node.softening = -0.01F;
  EXPECT_FALSE(accepted(node, rule, 0.0279));
  EXPECT_TRUE(accepted(node, rule, 0.0281));
}

TEST(Acceptance, floorsTheAccelerationAtATinyPartOfTheMedian) {
  const AcceptanceRule rule = rule_of(Criterion::acceleration, Order::quadrupole, 1e-3, 2);
  EXPECT_EQ(rule.inverse_tolerance(0), rule.inverse_tolerance(2e-3F));
  EXPECT_GT(rule.inverse_tolerance(2e-3F), rule.inverse_tolerance(3e-3F));
}

TEST(Acceptance, withoutAnyAccelerationOpensAllThatHasExtent) {
  const AcceptanceRule rule = rule_of(Criterion::acceleration, Order::quadrupole, 1e-3, 0);
  EXPECT_FALSE(accepted(node_of(1e-3F, 0.01F), rule, 1000, 0));
}

/// Every box inside a box accepts what that one accepts, bit for bit: distances are monotone.
TEST(Acceptance, holdsForBoxesInsideTheBox) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto sorted = [&](float low, float high) {
    const float a = low + (high - low) * 0.5F * (1 + uniform(random)),
                b = low + (high - low) * 0.5F * (1 + uniform(random));
    return std::pair{std::max(low, std::min(a, b)), std::min(high, std::max(a, b))};
  };
  for (int i = 0; i < 20000; ++i) {
    TargetBounds outer{}, inner{};
    for (int axis = 0; axis < 3; ++axis) {
      std::tie(outer.low[axis], outer.high[axis]) = sorted(-1, 1);
      std::tie(inner.low[axis], inner.high[axis]) = sorted(outer.low[axis], outer.high[axis]);
    }
    const Vec3f p{2 * uniform(random), 2 * uniform(random), 2 * uniform(random)};
    ASSERT_GE(inner.distance2(p), outer.distance2(p));
  }
}

}  // namespace
}  // namespace grove
