// Walks on the GPU of which several warps share each group, and walks of some groups only.
#include <numeric>
#include <stdexcept>
#include <string>

#include "support/device_grown.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"
#include "support/split_walks.hpp"

namespace grove {
namespace {

using namespace testing;

TEST(WalkParts, follow_from_the_number_of_active_groups) {
  EXPECT_EQ(cuda::walk_parts(0), cuda::most_useful_parts);
  EXPECT_EQ(cuda::walk_parts(4), cuda::most_useful_parts);
  EXPECT_EQ(cuda::walk_parts(std::int64_t{1} << 40), 1);
  for (std::int64_t groups = 1; groups < 100000; ++groups) {
    const int parts = cuda::walk_parts(groups);
    ASSERT_TRUE(parts >= 1 && parts <= 32 && (parts & (parts - 1)) == 0) << groups;
    ASSERT_LE(cuda::walk_parts(groups + 1), parts) << groups;
  }
}

using GpuWalkParts = GpuTest;

/// Tolerances as of the walk of one warp a group (walk_gpu_test.cpp); adding the parts takes 31 more.
TEST_F(GpuWalkParts, equal_direct_summation_when_everything_is_opened) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (const std::size_t count : {1U, 2U, 31U, 33U, 65U, 1500U}) {
      Particles particles = make_shape(Shape::clumps, count);
      GravityParameters gravity;
      gravity.criterion = Criterion::opening_radius;
      gravity.kernel = kernel;
      gravity.softening.fill(0.02);
      gravity.theta = 1e-6;  // no node is as far as that
      const DeviceGrown grown = grow_on_device(particles, gravity, 256);
      const auto exact = direct_forces(particles, gravity);
      for (int parts = 2; parts <= cuda::most_walk_parts; parts *= 2) {
        SCOPED_TRACE(std::to_string(count) + " in " + std::to_string(parts));
        const WalkCounts counts = grown.walk(particles, gravity, 0, parts);
        EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
        for (std::size_t i = 0; i < count; ++i) {
          const double bound = 1.25 * rounding_bound(particles, gravity, i, 5, count + 31);
          ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
          ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * 5) << i;
          ASSERT_EQ(particles.work[i], count);
        }
      }
    }
}

void expect_the_sums_of_one_warp(const GravityParameters& gravity) {
  Particles one = make_shape(Shape::plummer, 4000);
  const DeviceGrown grown = grow_on_device(one, gravity, 512);
  const WalkCounts expected = grown.walk(one, gravity, 0);
  for (int parts = 2; parts <= cuda::most_walk_parts; parts *= 2) {
    SCOPED_TRACE(parts);
    Particles found = one;
    const WalkCounts counts = grown.walk(found, gravity, 0, parts);
    expect_same_counts(counts, expected);
    expect_same_sums(found, one, gravity);
  }
}

TEST_F(GpuWalkParts, sum_what_one_warp_does) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.softening.fill(0.01);
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    gravity.kernel = kernel;
    for (const Order order : {Order::monopole, Order::quadrupole}) {
      gravity.order = order;
      expect_the_sums_of_one_warp(gravity);
    }
  }
  gravity.tree = LocalTreeKind::octree;
  expect_the_sums_of_one_warp(gravity);
}

TEST_F(GpuWalkParts, have_the_same_bits_whenever_and_whichever_groups_are_walked) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.softening.fill(0.01);
  Particles all = make_shape(Shape::clumps, 3000);
  const DeviceGrown grown = grow_on_device(all, gravity, 512);
  const auto groups = static_cast<std::uint32_t>(grown.leaf_of_group.size());
  std::vector<std::uint32_t> active;  // in no order; 7919 is prime
  for (std::uint32_t i = 0; i < groups / 3; ++i) active.push_back(i * 7919 % groups);
  std::vector<bool> is_active(all.size(), false);
  const auto of_group = download(grown.groups);
  for (const std::uint32_t g : active) {
    const auto first =
        grown.places[grown.leaf_of_group[g]].first + static_cast<std::uint64_t>(of_group[g].first);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(of_group[g].count); ++i)
      is_active[first + i] = true;
  }
  for (const int parts : {1, 2, 8, 32}) {
    SCOPED_TRACE(parts);
    grown.walk(all, gravity, 0, parts);
    Particles some = all;
    for (std::size_t i = 0; i < some.size(); ++i) some.acceleration[i] = {1, 2, 3}, some.potential[i] = 4;
    const WalkCounts counts = grown.walk(some, gravity, 0, parts, active);
    std::int64_t work = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      work += is_active[i] ? all.work[i] : 0;
      ASSERT_EQ(some.acceleration[i], is_active[i] ? all.acceleration[i] : Vec3f(1, 2, 3)) << i;
      ASSERT_EQ(some.potential[i], is_active[i] ? all.potential[i] : 4) << i;
      ASSERT_EQ(some.work[i], all.work[i]) << i;
    }
    EXPECT_EQ(counts.cell + counts.particle, work);
  }
}

TEST_F(GpuWalkParts, refuse_to_open_what_is_pruned) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.softening.fill(0.01);
  gravity.theta = 1e-6;
  Particles particles = make_shape(Shape::uniform, 1000);
  DeviceGrown grown = grow_on_device(particles, gravity, 256);
  auto links = download(grown.links);
  links[grown.places[1].node + 1].child = NodeLinks::pruned;
  grown.links.upload(links);
  EXPECT_THROW(grown.walk(particles, gravity, 0, 8), std::logic_error);
}

}  // namespace
}  // namespace grove
