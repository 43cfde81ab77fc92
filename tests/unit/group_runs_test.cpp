#include "kernels/math/group_runs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace grove {
namespace {

/// A group, in the order of a walk through space, and where its buckets begin.
struct Problem {
  std::vector<SourceParticle> particles;
  std::uint32_t buckets = 1;
  Group group{};

  Problem(std::mt19937& random, int count) {
    std::uniform_real_distribution<float> step(-0.1F, 0.1F), chance(0, 1);
    Vec3f place{0, 0, 0};
    group = {no_bounds(), 320, count, 0};
    group.bounds.inverse_tolerance = 3;
    group.bounds.softening = 0.5F;
    for (int i = 0; i < count; ++i) {
      const float reach = chance(random) < 0.1F ? 20.F : 1.F;
      for (int axis = 0; axis < 3; ++axis) place[axis] += reach * step(random);
      particles.push_back({place, 1});
      widen(group.bounds, place, place);
      if (chance(random) < 0.4F) buckets |= 1U << i;
      if (chance(random) < 0.7F) group.active |= 1U << i;
    }
  }

  std::vector<Group> runs(float critical) const {
    std::vector<Group> found;
    for_runs(group, particles.data(), buckets, critical, [&](const Group& run) { found.push_back(run); });
    return found;
  }
  TargetBounds box(std::int32_t first, std::int32_t last) const {
    TargetBounds bounds = no_bounds();
    for (std::int32_t i = first; i < last; ++i) {
      const Vec3f& p = particles[static_cast<std::size_t>(i)].position;
      widen(bounds, p, p);
    }
    return bounds;
  }
  /// Behind the bucket that begins there.
  std::int32_t end_of_bucket(std::int32_t first) const {
    do ++first;
    while (first < group.count && !(buckets >> first & 1U));
    return first;
  }
};

TEST(GroupRuns, are_the_longest_runs_of_buckets_that_are_small_enough) {
  std::mt19937 random(5);
  int split = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Problem problem(random, 1 + trial % group_size);
    const float critical = 0.02F * static_cast<float>(trial % 50);
    std::uint32_t seen = 0;
    std::int32_t next = 0;  // behind the last run that was found, or left out
    const auto leave_out = [&](std::int32_t until) {
      while (next < until) {
        ASSERT_EQ(problem.group.active >> next & 1U, 0U);
        ++next;
      }
    };
    const std::vector<Group> runs = problem.runs(critical);
    split += runs.size() > 1;
    for (const Group& run : runs) {
      const std::int32_t first = run.first - problem.group.first, last = first + run.count;
      leave_out(first);
      EXPECT_TRUE(problem.buckets >> first & 1U);
      EXPECT_TRUE(last == problem.group.count || problem.buckets >> last & 1U);
      EXPECT_NE(run.active, 0U);
      EXPECT_EQ(seen & run.active << first, 0U);
      seen |= run.active << first;
      const TargetBounds box = problem.box(first, last);
      EXPECT_EQ(run.bounds.low, box.low);
      EXPECT_EQ(run.bounds.high, box.high);
      EXPECT_EQ(run.bounds.inverse_tolerance, problem.group.bounds.inverse_tolerance);
      EXPECT_EQ(run.bounds.softening, problem.group.bounds.softening);
      EXPECT_TRUE(longest_side(box) <= critical || problem.end_of_bucket(first) == last);
      if (last < problem.group.count) {
        EXPECT_GT(longest_side(problem.box(first, problem.end_of_bucket(last))), critical);
      }
      next = last;
    }
    leave_out(problem.group.count);
    EXPECT_EQ(seen, problem.group.active);
  }
  EXPECT_GT(split, 1000);
}

TEST(GroupRuns, are_the_group_itself_where_it_is_small_enough) {
  std::mt19937 random(6);
  const Problem problem(random, group_size);
  const std::vector<Group> runs = problem.runs(longest_side(problem.group.bounds));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].first, problem.group.first);
  EXPECT_EQ(runs[0].count, problem.group.count);
  EXPECT_EQ(runs[0].active, problem.group.active);
}

TEST(GroupRuns, of_a_group_without_active_particles_are_none) {
  std::mt19937 random(7);
  Problem problem(random, group_size);
  problem.group.active = 0;
  for (const float critical : {0.F, 1e9F}) EXPECT_TRUE(problem.runs(critical).empty());
}

}  // namespace
}  // namespace grove
