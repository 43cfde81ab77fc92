// The update of octrees and kd-trees on the GPU against the invariants of trees and the host's update.
#include "kernels/cuda/trees/tree_refit.hpp"

#include <cmath>
#include <cstring>
#include <string>

#include "support/device_checks.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr LocalTreeKind all_kinds[] = {LocalTreeKind::octree, LocalTreeKind::kd};

GravityParameters gravity_of(Criterion criterion, LocalTreeKind kind) {
  GravityParameters gravity;
  gravity.criterion = criterion;
  gravity.tree = kind;
  gravity.softening = {0.01, 0.01, 0.05, 0, 0, 0};
  return gravity;
}

/// Origins, sources, groups and bounds are those of the host to the bit.
void expect_those_of_the_host(const DeviceGrown& grown, const Grown& host) {
  const auto origin = download(grown.origin);
  const auto bounds = download(grown.bounds);
  const auto sources = download(grown.sources);
  const auto groups = download(grown.groups);
  const auto links = download(grown.links);
  for (std::int32_t i = 0; i < host.forest.leaves(); ++i) {
    const auto leaf = static_cast<std::size_t>(i);
    const TargetLeaf target = host.forest.target(i);
    const SourceTree tree = host.forest.tree(i);
    const cuda::LeafPlaces& place = grown.places[leaf];
    ASSERT_EQ(origin[leaf], target.origin);
    ASSERT_EQ(place.nodes, tree.nodes);
    ASSERT_EQ(
        std::memcmp(&links[place.node], tree.links, sizeof(NodeLinks) * static_cast<std::size_t>(tree.nodes)),
        0);
    ASSERT_EQ(std::memcmp(&sources[place.first], tree.particles,
                          sizeof(SourceParticle) * static_cast<std::size_t>(place.count)),
              0);
    ASSERT_EQ(std::memcmp(&groups[place.group], target.groups,
                          sizeof(Group) * static_cast<std::size_t>(target.group_count)),
              0);
    ASSERT_EQ(std::memcmp(&bounds[leaf], &target.bounds, sizeof(TargetBounds)), 0);
  }
}

/// The same formulas with products and sums that one may round together and the other apart: some 2^-24 of
/// centres and radii, whose powers make up what is compared. rounding: of places, walk units.
void expect_reaches_of_the_host(const DeviceGrown& grown, const Grown& host, double rounding = 0) {
  const auto core = download(grown.core);
  for (std::int32_t i = 0; i < host.forest.leaves(); ++i) {
    const SourceTree tree = host.forest.tree(i);
    const NodeCore* found = &core[grown.places[static_cast<std::size_t>(i)].node];
    for (std::int32_t n = 0; n < tree.nodes; ++n) {
      const double reach = std::sqrt(tree.core[n].reach2);
      ASSERT_NEAR(std::sqrt(found[n].reach2), reach, 5e-6 * reach + rounding) << n;
      ASSERT_NEAR(found[n].power, tree.core[n].power, 1e-5 * tree.core[n].power) << n;
    }
  }
}

DeviceGrown grown_over(Particles& particles, const GravityParameters& gravity, Count quantum,
                       double median_acceleration = 0) {
  DeviceGrown grown;
  grown.host.prepare(particles);
  if (gravity.tree == LocalTreeKind::octree)
    grown.build_octrees(particles, quantum, gravity.curve, static_cast<std::int32_t>(gravity.bucket));
  else
    grown.build_kd_trees(particles, quantum, gravity.split, static_cast<std::int32_t>(gravity.bucket));
  grown.update(particles, gravity, median_acceleration);
  return grown;
}

using GpuTreeRefit = GpuTest;

TEST_F(GpuTreeRefit, is_sound_for_all_shapes_and_sizes) {
  for (const LocalTreeKind kind : all_kinds)
    for (const Shape shape : all_shapes)
      for (const std::size_t count : {1U, 2U, 7U, 33U, 65U, 3001U})
        for (const Count quantum : {64, 1 << 20}) {
          SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
          const GravityParameters gravity = gravity_of(Criterion::opening_radius, kind);
          Particles particles = make_shape(shape, count);
          expect_sound(grown_over(particles, gravity, quantum), particles, gravity);
        }
}

/// Several blocks find the bounds of such a tree.
TEST_F(GpuTreeRefit, of_a_tree_of_many_groups_is_sound) {
  for (const LocalTreeKind kind : all_kinds) {
    const GravityParameters gravity = gravity_of(Criterion::opening_edge, kind);
    Particles particles = make_shape(Shape::clumps, 17001);
    expect_sound(grown_over(particles, gravity, 1 << 20), particles, gravity);
  }
}

TEST_F(GpuTreeRefit, of_buckets_of_any_size_is_sound) {
  for (const LocalTreeKind kind : all_kinds)
    for (const Count bucket : {1, 3, 20, 32})
      for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::pairs})
        for (const std::size_t count : {1U, 33U, 3001U}) {
          SCOPED_TRACE(name_of(shape) + " " + std::to_string(count) + ", buckets of " +
                       std::to_string(bucket));
          const bool has_cells = kind == LocalTreeKind::octree;
          GravityParameters gravity =
              gravity_of(has_cells ? Criterion::opening_cell : Criterion::opening_edge, kind);
          gravity.bucket = bucket;
          Particles particles = make_shape(shape, count);
          expect_sound(grown_over(particles, gravity, 1000), particles, gravity);
        }
}

/// A case of the test below.
void expect_that_of_the_host(const GravityParameters& gravity) {
  Particles particles = make_shape(Shape::clumps, 3000);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.type[i] = static_cast<std::uint8_t>(1 + particles.id[i] % 2);
    particles.old_acceleration[i] = 1 + static_cast<float>(particles.id[i] % 17);
    if (particles.position[i].x > 2) particles.mass[i] = 0;
  }
  Particles on_host = particles;
  Grown host;
  host.prepare(on_host);
  host.sort(on_host, 700);
  host.build(on_host, *tree_builder(gravity));
  host.moments(on_host, gravity, 4);

  const DeviceGrown grown = grown_over(particles, gravity, 700, 4);
  ASSERT_EQ(particles.id, on_host.id);
  expect_those_of_the_host(grown, host);
  expect_sound(grown, particles, gravity);
  expect_reaches_of_the_host(grown, host);
}

TEST_F(GpuTreeRefit, is_that_of_the_host) {
  for (const LocalTreeKind kind : all_kinds)
    for (const Criterion criterion :
         {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
          Criterion::relative_edge})
      expect_that_of_the_host(gravity_of(criterion, kind));
  expect_that_of_the_host(gravity_of(Criterion::opening_cell, LocalTreeKind::octree));
}

/// Their cells keep their sizes. The host keeps the origins of leaves, too, the GPU finds new ones: offsets,
/// below 2^23 walk units as the root cube is at most 2^24 wide, are rounded by half a unit on each side, and
/// the reach follows the centre of mass on three axes.
TEST_F(GpuTreeRefit, of_octrees_whose_particles_have_moved_is_that_of_the_host) {
  const GravityParameters gravity = gravity_of(Criterion::opening_cell, LocalTreeKind::octree);
  Particles particles = make_shape(Shape::clumps, 3000), on_host = particles;
  Grown host;
  host.prepare(on_host);
  host.sort(on_host, 700);
  host.build(on_host, *tree_builder(gravity));
  host.moments(on_host, gravity, 0);
  DeviceGrown grown = grown_over(particles, gravity, 700);
  for (int step = 0; step < 2; ++step) {
    for (Particles* of : {&particles, &on_host})
      for (std::size_t i = 0; i < of->size(); ++i)
        of->position[i] += Vec3d{0.02, -0.01, 0.03} * std::sin(static_cast<double>(of->id[i]));
    host.moments(on_host, gravity, 0);
    grown.update(particles, gravity, 0);
    expect_reaches_of_the_host(grown, host, 2);
  }
}

}  // namespace
}  // namespace grove
