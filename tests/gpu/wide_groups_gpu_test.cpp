// Walks on the GPU in which two groups of a leaf, 64 particles, walk as one.
#include <stdexcept>
#include <string>

#include "support/device_checks.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

using GpuWideGroups = GpuTest;

constexpr int wide = 2 * group_size;

GravityParameters gravity_of(SofteningKernel kernel, double theta) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.kernel = kernel;
  gravity.theta = theta;
  gravity.softening.fill(0.02);
  return gravity;
}

DeviceGrown grow(Particles& particles, const GravityParameters& gravity, Count quantum) {
  DeviceGrown grown;
  grown.host.prepare(particles, *std::max_element(gravity.softening.begin(), gravity.softening.end()));
  grown.build(particles, quantum, wide);
  grown.update(particles, gravity, 0);
  return grown;
}

WalkCounts walk(const DeviceGrown& grown, Particles& particles, const GravityParameters& gravity,
                const std::vector<std::uint32_t>& active = {}) {
  return grown.walk(particles, gravity, 0, 1, active, wide);
}

/// The groups of a leaf in pairs are cells, whole but for the leaf's last.
TEST_F(GpuWideGroups, are_cells_of_bisections) {
  const GravityParameters gravity = gravity_of(SofteningKernel::spline, 0.5);
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::point})
    for (const std::size_t count : {1U, 31U, 33U, 63U, 64U, 65U, 96U, 97U, 4097U}) {
      SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
      Particles particles = make_shape(shape, count);
      const DeviceGrown grown = grow(particles, gravity, 1000);
      expect_sound(grown, particles, gravity);
      const auto links = download(grown.links);
      for (const cuda::LeafPlaces& leaf : grown.places)
        for (std::int32_t first = 0; first < leaf.count; first += wide) {
          const std::int32_t size = std::min(wide, leaf.count - first);
          bool is_cell = false;
          for (std::uint64_t n = leaf.node; n < leaf.node + static_cast<std::uint64_t>(leaf.nodes); ++n)
            is_cell |= links[n].first == first && links[n].count == size;
          ASSERT_TRUE(is_cell) << first;
        }
    }
}

/// Tolerances as of groups of 32 (walk_gpu_test.cpp).
TEST_F(GpuWideGroups, equal_direct_summation_when_everything_is_opened) {
  for (const Shape shape : {Shape::uniform, Shape::clumps})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 96U, 97U, 1500U}) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Particles particles = make_shape(shape, count);
        const GravityParameters gravity = gravity_of(kernel, 1e-6);
        const DeviceGrown grown = grow(particles, gravity, 257);
        const WalkCounts counts = walk(grown, particles, gravity);
        EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
        const auto exact = direct_forces(particles, gravity);
        for (std::size_t i = 0; i < count; ++i) {
          const double bound = 1.25 * rounding_bound(particles, gravity, i, 5);
          ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
          ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * 5) << i;
          ASSERT_EQ(particles.work[i], count);
        }
      }
}

/// Particles at one place, at exactly a radius of softening from each other (0.25 and 0.5, within rounding)
/// and farther, of several softening lengths; tolerances as of groups of 32 (walk_gpu_test.cpp).
TEST_F(GpuWideGroups, of_all_sizes_are_summed_under_mixed_softening) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (std::size_t count = 1; count <= 2 * wide + 1; ++count) {
      SCOPED_TRACE(count);
      Particles particles = make_lattice(count);
      GravityParameters gravity = gravity_of(kernel, 1e-6);
      gravity.softening = lattice_softening;
      const DeviceGrown grown = grow(particles, gravity, 4096);
      walk(grown, particles, gravity);
      const auto exact = direct_forces(particles, gravity);
      for (std::size_t i = 0; i < count; ++i) {
        const double bound = 1.25 * rounding_bound(particles, gravity, i, 2);
        const double potential = static_cast<double>(count) * particles.mass[i] / 0.01 * 40 * unit_roundoff;
        ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
        ASSERT_NEAR(particles.potential[i], exact[i].potential, potential) << i;
        ASSERT_EQ(particles.work[i], count);
      }
    }
}

/// The box of two groups holds those of both: whatever it accepts, each of them does. So no particle sees
/// less of the tree than in a group of its own, and each walk tests nodes for twice as many.
TEST_F(GpuWideGroups, open_what_their_groups_open) {
  for (const Order order : {Order::monopole, Order::quadrupole}) {
    Particles particles = make_shape(Shape::plummer, 6000);
    GravityParameters gravity = gravity_of(SofteningKernel::spline, 0.5);
    gravity.order = order;
    const DeviceGrown grown = grow(particles, gravity, 500);
    Particles of_32 = particles;
    const WalkCounts narrow_counts = grown.walk(of_32, gravity, 0);
    const WalkCounts counts = walk(grown, particles, gravity);
    EXPECT_GT(counts.particle, narrow_counts.particle);
    EXPECT_LT(counts.tests, narrow_counts.tests);
    const auto exact = direct_forces(particles, gravity);
    EXPECT_LT(percentile(relative_errors(particles, exact), 0.5),
              percentile(relative_errors(of_32, exact), 0.5));
    EXPECT_LT(percentile(relative_errors(particles, exact), 0.99),
              percentile(relative_errors(of_32, exact), 0.99));
  }
}

TEST_F(GpuWideGroups, have_the_same_bits_whichever_are_walked) {
  Particles all = make_shape(Shape::clumps, 3000);
  const GravityParameters gravity = gravity_of(SofteningKernel::spline, 0.5);
  const DeviceGrown grown = grow(all, gravity, 300);  // leaves with an odd number of groups among them
  walk(grown, all, gravity);
  const auto groups = download(grown.groups);
  std::vector<std::uint32_t> active;  // every third pair
  std::vector<bool> is_active(all.size(), false);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const cuda::LeafPlaces& leaf = grown.places[grown.leaf_of_group[g]];
    if (groups[g].first / wide % 3 != 1) continue;
    if (groups[g].first % wide == 0) active.push_back(g);
    for (std::int32_t i = 0; i < groups[g].count; ++i)
      is_active[leaf.first + static_cast<std::uint64_t>(groups[g].first + i)] = true;
  }
  ASSERT_FALSE(active.empty());
  Particles some = all;
  for (std::size_t i = 0; i < some.size(); ++i) some.acceleration[i] = {1, 2, 3}, some.potential[i] = 4;
  const WalkCounts counts = walk(grown, some, gravity, active);
  std::int64_t work = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    work += is_active[i] ? all.work[i] : 0;
    ASSERT_EQ(some.acceleration[i], is_active[i] ? all.acceleration[i] : Vec3f(1, 2, 3)) << i;
    ASSERT_EQ(some.potential[i], is_active[i] ? all.potential[i] : 4) << i;
  }
  EXPECT_EQ(counts.cell + counts.particle, work);
}

TEST_F(GpuWideGroups, refuse_to_open_what_is_pruned) {
  Particles particles = make_shape(Shape::uniform, 1000);
  const GravityParameters gravity = gravity_of(SofteningKernel::spline, 1e-6);
  DeviceGrown grown = grow(particles, gravity, 256);
  auto links = download(grown.links);
  links[grown.places[1].node + 1].child = NodeLinks::pruned;
  grown.links.upload(links);
  EXPECT_THROW(walk(grown, particles, gravity), std::logic_error);
}

}  // namespace
}  // namespace grove
