// The pass through the own leaves in the background: the same bits as without, whatever else the GPU does.
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/cuda/device/urgent_work.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using namespace testing;

using GpuOwnWalk = GpuTest;

/// Trees and what a pass through the own leaves needs of them: no frames, no cells above.
struct Problem {
  explicit Problem(LocalTreeKind kind, std::size_t count = 5000)
      : particles(make_shape(Shape::plummer, count)) {
    gravity.criterion = Criterion::opening_radius;
    gravity.softening.fill(0.01);
    gravity.tree = kind;
    grown.host.prepare(particles, 0.01);
    if (kind == LocalTreeKind::octree)
      grown.build_octrees(particles, 512, gravity.curve);
    else
      grown.build(particles, 512);
    grown.update(particles, gravity, 0);
    leaf_of_group = upload(grown.leaf_of_group);
  }

  cuda::WalkSources sources() const { return cuda::WalkSources::of(grown.trees, grown.codes()); }
  cuda::WalkTargets targets(int parts) const {
    return {grown.trees, leaf_of_group.data(), static_cast<std::uint32_t>(grown.leaf_of_group.size()),
            nullptr, parts};
  }

  Particles particles;
  GravityParameters gravity;
  DeviceGrown grown;
  cuda::DeviceArray<std::uint32_t> leaf_of_group;
};

struct Output {
  explicit Output(std::size_t count) : acceleration(count), potential(count), work(count) {
    acceleration.clear();
    potential.clear();
    work.clear();
  }
  ForceOutput view() const { return {acceleration.data(), potential.data(), work.data()}; }

  cuda::DeviceArray<Vec3f> acceleration;
  cuda::DeviceArray<float> potential;
  cuda::DeviceArray<std::uint32_t> work;
};

void expect_equal(const Output& a, const Output& b) {
  EXPECT_EQ(download(a.acceleration), download(b.acceleration));
  EXPECT_EQ(download(a.potential), download(b.potential));
  EXPECT_EQ(download(a.work), download(b.work));
}

/// The GPU's work for an exchange meanwhile: kernels, copies, memory that is taken and given back.
void work_urgently(const Problem& problem) {
  const cuda::UrgentWork urgent;
  for (int i = 0; i < 10; ++i) {
    const DeviceSources sources(problem.grown, problem.gravity, 0);
    const cuda::DeviceArray<SourceParticle> copy(problem.particles.size());
    cuda::device_copy(copy.data(), problem.grown.sources.data(), copy.size() * sizeof(SourceParticle));
  }
  urgent.wait();
}

TEST_F(GpuOwnWalk, has_the_same_bits_in_the_background) {
  for (const LocalTreeKind kind : {LocalTreeKind::bisection, LocalTreeKind::octree}) {
    const Problem problem(kind);
    for (const int parts : {1, 8}) {
      SCOPED_TRACE(parts);
      const Output expected(problem.particles.size()), found(problem.particles.size());
      const WalkCounts counts = cuda::walk_own(problem.gravity, problem.grown.host.units, problem.sources(),
                                               problem.targets(parts), expected.view());
      cuda::OwnWalk walk(problem.gravity, problem.grown.host.units, problem.sources(), problem.targets(parts),
                         found.view());
      work_urgently(problem);
      const WalkCounts in_background = walk.finish();
      EXPECT_EQ(in_background.cell, counts.cell);
      EXPECT_EQ(in_background.particle, counts.particle);
      EXPECT_EQ(in_background.tests, counts.tests);
      EXPECT_GT(counts.particle, 0);
      EXPECT_GT(walk.seconds(), 0);
      expect_equal(found, expected);
    }
  }
}

/// Work that is asked for after its end comes after it.
TEST_F(GpuOwnWalk, is_done_before_what_follows_its_end) {
  const Problem problem(LocalTreeKind::bisection);
  const Output expected(problem.particles.size()), found(problem.particles.size());
  cuda::walk_own(problem.gravity, problem.grown.host.units, problem.sources(), problem.targets(1),
                 expected.view());
  {
    const cuda::OwnWalk given_up(problem.gravity, problem.grown.host.units, problem.sources(),
                                 problem.targets(1), found.view());
  }
  expect_equal(found, expected);
}

/// Until all shares of groups that are split find room.
TEST_F(GpuOwnWalk, is_made_again_with_that_of_others_for_want_of_room) {
  const Problem problem(LocalTreeKind::bisection);
  const DeviceSources all(problem.grown, problem.gravity, 0);
  const WalkUnits& units = problem.grown.host.units;
  const auto walk = [&](std::uint32_t& room, const Output& output) {
    cuda::WalkTargets targets = problem.targets(1);
    targets.share_limit = 100;
    targets.most_shares = room;
    cuda::OwnWalk own(problem.gravity, units, problem.sources(), targets, output.view());
    const WalkCounts counts =
        own.finish_with_others(problem.gravity, units, all.view(problem.grown), targets, output.view());
    room = targets.most_shares;
    return counts;
  };
  const Output expected(problem.particles.size()), found(problem.particles.size());
  std::uint32_t large = 1U << 20, small = 8;
  const WalkCounts of_expected = walk(large, expected), of_found = walk(small, found);
  EXPECT_EQ(large, 1U << 20);
  EXPECT_GT(small, 1000U);
  EXPECT_EQ(of_found.particle, of_expected.particle);
  EXPECT_EQ(of_found.tests, of_expected.tests);
  expect_equal(found, expected);
}

TEST_F(GpuOwnWalk, says_that_it_opens_what_is_pruned) {
  Problem problem(LocalTreeKind::bisection);
  problem.gravity.theta = 1e-6;  // everything is opened
  problem.grown.update(problem.particles, problem.gravity, 0);
  auto links = download(problem.grown.links);
  links[problem.grown.places[1].node + 1].child = NodeLinks::pruned;
  problem.grown.links.upload(links);
  const Output output(problem.particles.size());
  cuda::OwnWalk walk(problem.gravity, problem.grown.host.units, problem.sources(), problem.targets(1),
                     output.view());
  EXPECT_THROW(walk.finish(), std::logic_error);
}

TEST_F(GpuOwnWalk, of_nothing_does_nothing) {
  const Problem problem(LocalTreeKind::bisection, 1);
  cuda::WalkTargets nobody = problem.targets(1);
  nobody.groups = 0;
  const Output output(1);
  cuda::OwnWalk walk(problem.gravity, problem.grown.host.units, problem.sources(), nobody, output.view());
  EXPECT_EQ(walk.finish().particle, 0);
}

}  // namespace
}  // namespace grove
