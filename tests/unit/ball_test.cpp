#include "kernels/math/ball.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/math/leaf_targets.hpp"

namespace grove {
namespace {

constexpr double edge = 3, unit_length = 1e-3;

/// Leaves with targets about their origins, and balls that hold these.
struct RandomLeaves {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> uniform{0, 1};

  Vec3d place() { return {edge * uniform(random), edge * uniform(random), edge * uniform(random)}; }
  LeafTargets leaf() {
    const double size = edge * std::pow(10, -3 * uniform(random));
    const auto side = static_cast<float>(0.5 * size / unit_length);
    LeafTargets leaf{{{-side, -side, -side}, {side, side, side}, 0, 0}, place()};
    leaf.ball = {leaf.origin + 0.1 * size * Vec3d{uniform(random), uniform(random), uniform(random)},
                 size * (0.5 + uniform(random))};
    return leaf;
  }
  Ball cell() { return {place(), edge * std::pow(10, -3 * uniform(random))}; }
};

bool is_near_in_some_image(const Ball& source, const Ball& target, const Images& images) {
  for (int image = 0; image < images.count(); ++image)
    if (!acts_from_far(source.shifted(images.shift(image)), target)) return true;
  return false;
}

/// Ranks that know some leaves by what these want together send all that one of them may go through.
TEST(Ball, wants_of_several_leaves_hold_those_of_each) {
  const Images images{edge, 0};
  RandomLeaves make;
  int far = 0, near = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    const Ball source = make.cell();
    const int count = 1 + sample % 4;
    Wanted all = Wanted::nothing();
    bool some = false;
    for (int i = 0; i < count; ++i) {
      const LeafTargets leaf = make.leaf();
      const bool is_near = is_near_in_some_image(source, leaf.ball, images);
      some = some || is_near;
      all = Wanted::united_if_any(all, leaf.wanted(unit_length));
      if (is_near) {
        EXPECT_TRUE(
            leaf.wanted(unit_length).may_be_near(source.middle, source.middle, source.radius, images));
      }
    }
    const bool may = all.may_be_near(source.middle, source.middle, source.radius, images);
    EXPECT_TRUE(may || !some);
    // Cells above leaves are opened if they are near; if they are far from all they are not sent.
    EXPECT_EQ(all.may_open(source.middle, NodeCore{}, source, true, unit_length, images), may);
    (may ? near : far) += 1;
  }
  EXPECT_GT(far, 2000);
  EXPECT_GT(near, 2000);
}

TEST(Ball, told_ones_with_room_hold_those_that_have_moved) {
  RandomLeaves make;
  int within = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    const Ball told = make.cell().drifted(0.1);
    const Ball now{told.middle + 0.1 * (make.uniform(make.random) - 0.5) * Vec3d{1, 1, 1},
                   told.radius * make.uniform(make.random)};
    if (!is_within(now, told)) continue;
    ++within;
    const Ball source = make.cell();
    EXPECT_TRUE(!acts_from_far(source, told) || acts_from_far(source, now));
  }
  EXPECT_GT(within, 2000);
}

/// No particle of one ball is within the reach of softening of one of another that acts on it from far.
TEST(Ball, least_ones_keep_softening_out) {
  constexpr double reach = 0.7;
  const double least = least_ball_of(reach);
  int acting = 0;
  for (double radius = least; radius < 4; radius += 0.1)
    for (double distance = 0; distance < 40; distance += 0.01) {
      const Ball a{{0, 0, 0}, least}, b{{distance, 0, 0}, radius};
      if (!acts_from_far(a, b)) continue;
      ++acting;
      EXPECT_GE(distance - a.radius - b.radius, reach * (1 - 1e-12));
    }
  EXPECT_GT(acting, 1000);
}

TEST(Ball, where_there_is_none_nothing_acts_from_far) {
  const Ball none, ball{{100, 0, 0}, 1};
  EXPECT_FALSE(acts_from_far(none, ball));
  EXPECT_FALSE(acts_from_far(ball, none));
  EXPECT_FALSE(none.grown(2).is_there());
  EXPECT_FALSE(none.drifted(2).is_there());
}

}  // namespace
}  // namespace grove
