// Walks on the GPU in which warps leave to others what is left of groups with much to sum.
#include <string>
#include <vector>

#include "kernels/cuda/walk/active.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"
#include "support/split_walks.hpp"

namespace grove {
namespace {

using namespace testing;

/// Numbers of all groups, or of the first ones of pairs.
std::vector<std::uint32_t> all_groups(const DeviceGrown& grown, int targets_per_warp) {
  std::vector<std::uint32_t> numbers;
  const auto groups = download(grown.groups);
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    if (groups[g].first % targets_per_warp == 0) numbers.push_back(g);
  return numbers;
}

GravityParameters by_radius() {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.softening.fill(0.01);
  return gravity;
}
GravityParameters opens_all() {
  GravityParameters gravity = by_radius();
  gravity.theta = 1e-6;  // no node is as far as that
  return gravity;
}

TEST(ShareLimit, is_about_twice_the_mean_of_many_warps) {
  constexpr std::int64_t groups = 100000, few = 16384 / 4;
  static_assert(cuda::walk_parts(groups) == 1 && cuda::walk_parts(few) == 1 && cuda::walk_parts(100) > 1);
  EXPECT_EQ(cuda::share_limit(100, groups * 1000), cuda::no_share_limit) << "several warps a group";
  EXPECT_EQ(cuda::share_limit(groups, groups * 1000), 1500U);
  EXPECT_EQ(cuda::share_limit(few, few * 1000), 375U) << "four warps in place of each";
  EXPECT_EQ(cuda::share_limit(groups, 0), 256U);
  EXPECT_EQ(cuda::share_limit(groups, std::int64_t{1} << 60), cuda::no_share_limit);
  EXPECT_EQ(cuda::room_for_shares(100003), 100000U) << "whole splits";
  cuda::ActiveList list;
  list.of_class[22] = 3;  // 512 to 1023 interactions
  list.of_class[31] = 7;  // one
  list.of_class[32] = 100;
  EXPECT_EQ(list.work(), 3 * 1023 + 7);
}

using GpuWalkShares = GpuTest;

/// Tolerances as of the walk of one warp a group (walk_gpu_test.cpp). With limits of 100 interactions and
/// more 20,000 sources come in fewer than 200 shares, the sums of which are added to each other.
TEST_F(GpuWalkShares, equal_direct_summation_when_everything_is_opened) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (const std::size_t count : {1U, 2U, 33U, 1500U, 20000U})
      for (const int targets_per_warp : {group_size, 2 * group_size}) {
        SCOPED_TRACE(std::to_string(count) + " by " + std::to_string(targets_per_warp));
        Particles particles = make_shape(Shape::uniform, count);
        GravityParameters gravity = opens_all();
        gravity.kernel = kernel;
        gravity.softening.fill(0.02);
        const DeviceGrown grown = grow_on_device(particles, gravity, 256);
        const auto exact = direct_forces(particles, gravity);
        const WalkCounts counts =
            grown.walk(particles, gravity, 0, 1, {}, targets_per_warp, count < 2000 ? 100 : 8000);
        EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
        for (std::size_t i = 0; i < count; ++i) {
          const double bound = 1.25 * rounding_bound(particles, gravity, i, 5, count + 200);
          ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
          ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * 5) << i;
          ASSERT_EQ(particles.work[i], count);
        }
      }
}

void expect_the_sums_of_one_warp(const GravityParameters& gravity, int targets_per_warp, std::uint32_t limit,
                                 WalkCounts& counts) {
  Particles one = make_shape(Shape::plummer, 6000);
  DeviceGrown grown = grow_on_device(one, gravity.first_evaluation(), 512);
  if (gravity.criterion == Criterion::acceleration) {
    grown.walk(one, gravity.first_evaluation(), 0);
    grown.update(one, gravity, remember_accelerations(one));
  }
  Particles found = one;
  const WalkCounts expected = grown.walk(one, gravity, 0, 1, {}, targets_per_warp);
  counts = grown.walk(found, gravity, 0, 1, {}, targets_per_warp, limit);
  expect_same_counts(counts, expected);
  expect_same_sums(found, one, gravity);
}

TEST_F(GpuWalkShares, sum_what_one_warp_does) {
  GravityParameters gravity = by_radius();
  WalkCounts counts;
  for (const int targets_per_warp : {group_size, 2 * group_size})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const Order order : {Order::monopole, Order::quadrupole})
        for (const std::uint32_t limit : {1U, 200U}) {
          SCOPED_TRACE(limit);
          gravity.kernel = kernel;
          gravity.order = order;
          expect_the_sums_of_one_warp(gravity, targets_per_warp, limit, counts);
        }
  for (const LocalTreeKind tree : {LocalTreeKind::octree, LocalTreeKind::kd}) {
    gravity.tree = tree;
    expect_the_sums_of_one_warp(gravity, group_size, 200, counts);
  }
}

TEST_F(GpuWalkShares, expand_what_one_warp_does) {
  GravityParameters gravity;
  gravity.delta = 0.001;
  gravity.softening.fill(0.001);
  for (const int targets_per_warp : {group_size, 2 * group_size}) {
    WalkCounts counts;
    expect_the_sums_of_one_warp(gravity, targets_per_warp, 200, counts);
    EXPECT_GT(counts.expanded, 0);
  }
}

/// In which order warps end is never the same.
TEST_F(GpuWalkShares, have_the_same_bits_whenever_and_beside_whichever_others) {
  Particles all = make_shape(Shape::clumps, 20000);
  const GravityParameters gravity = by_radius();
  const DeviceGrown grown = grow_on_device(all, gravity, 512);
  const auto groups = download(grown.groups);
  for (const int targets_per_warp : {group_size, 2 * group_size}) {
    SCOPED_TRACE(targets_per_warp);
    const std::vector<std::uint32_t> numbers = all_groups(grown, targets_per_warp);
    grown.walk(all, gravity, 0, 1, numbers, targets_per_warp, 100);
    for (std::size_t stride : {1U, 3U, 64U}) {
      std::vector<std::uint32_t> some;  // in another order; 7919 is prime
      std::vector<bool> walks(all.size(), false);
      for (std::size_t k = 0; k < numbers.size(); k += stride) {
        const std::uint32_t g = numbers[k * 7919 % numbers.size()];
        some.push_back(g);
        const auto& leaf = grown.places[grown.leaf_of_group[g]];
        for (std::int64_t i = groups[g].first; i < groups[g].first + targets_per_warp && i < leaf.count; ++i)
          walks[leaf.first + static_cast<std::uint64_t>(i)] = true;
      }
      Particles found = all;
      for (std::size_t i = 0; i < found.size(); ++i) found.acceleration[i] = {1, 2, 3};
      grown.walk(found, gravity, 0, 1, some, targets_per_warp, 100);
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(found.acceleration[i], walks[i] ? all.acceleration[i] : Vec3f(1, 2, 3)) << i;
        ASSERT_EQ(found.work[i], all.work[i]) << i;
      }
    }
  }
}

TEST_F(GpuWalkShares, refuse_to_open_what_is_pruned) {
  const GravityParameters gravity = opens_all();
  Particles particles = make_shape(Shape::uniform, 1000);
  DeviceGrown grown = grow_on_device(particles, gravity, 256);
  auto links = download(grown.links);
  links[grown.places[1].node + 1].child = NodeLinks::pruned;
  grown.links.upload(links);
  EXPECT_THROW(grown.walk(particles, gravity, 0, 1, {0}, group_size, 100), OpensPruned);
}

}  // namespace
}  // namespace grove
