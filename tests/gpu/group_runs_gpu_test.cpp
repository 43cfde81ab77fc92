// Groups of octrees in parts, on the GPU as on the host.
#include "kernels/cuda/trees/group_runs.hpp"

#include <cstring>
#include <vector>

#include "kernels/math/group_runs.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using namespace testing;

using GpuGroupRuns = GpuTest;

struct Problem {
  Problem(Shape shape, std::size_t count, Count quantum) : particles(make_shape(shape, count)) {
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.tree = LocalTreeKind::octree;
    gravity.softening.fill(0.01);
    grown.host.prepare(particles, 0.01);
    grown.build_octrees(particles, quantum, Curve::hilbert);
    grown.update(particles, gravity, 0);
    leaf_of_group = upload(grown.leaf_of_group);
    buckets = cuda::DeviceArray<std::uint32_t>(grown.leaf_of_group.size());
    cuda::mark_buckets(grown.trees, groups(), buckets.data());
  }

  std::uint32_t groups() const { return static_cast<std::uint32_t>(grown.leaf_of_group.size()); }

  /// By group, from the links.
  std::vector<std::uint32_t> expected_buckets() const {
    std::vector<std::uint32_t> expected(grown.leaf_of_group.size(), 0);
    const auto links = download(grown.links);
    for (const cuda::LeafPlaces& leaf : grown.places)
      for (std::uint64_t n = leaf.node; n < leaf.node + static_cast<std::uint64_t>(leaf.nodes); ++n)
        if (links[n].child == NodeLinks::bucket)
          expected[leaf.group + static_cast<std::uint64_t>(links[n].first / group_size)] |=
              1U << links[n].first % group_size;
    return expected;
  }

  Particles particles;
  DeviceGrown grown;
  cuda::DeviceArray<std::uint32_t> leaf_of_group, buckets;
};

TEST_F(GpuGroupRuns, are_those_of_the_host) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::pairs})
    for (const std::size_t count : {1U, 32U, 33U, 5000U})
      for (const Count quantum : {300, 5000}) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Problem problem(shape, count, quantum);
        auto groups = download(problem.grown.groups);
        for (std::size_t g = 0; g < groups.size(); ++g)  // some of the particles are active, of some groups
          groups[g].active &= g % 5 == 0 ? 0 : 0xf0f7731bU;
        problem.grown.groups.upload(groups);
        const auto buckets = problem.expected_buckets();
        EXPECT_EQ(download(problem.buckets), buckets);
        const auto sources = download(problem.grown.sources);
        for (const float critical : {0.F, 1e-3F, 0.03F, 1.F, 1e9F}) {
          std::vector<Group> expected;
          std::vector<std::uint32_t> leaves;
          for (std::size_t g = 0; g < groups.size(); ++g) {
            if (groups[g].active == 0) continue;
            const std::uint32_t leaf = problem.grown.leaf_of_group[g];
            const auto first = problem.grown.places[leaf].first + static_cast<std::uint64_t>(groups[g].first);
            for_runs(groups[g], &sources[first], buckets[g], critical, [&](const Group& run) {
              expected.push_back(run);
              leaves.push_back(leaf);
            });
          }
          const cuda::GroupRuns found =
              cuda::split_groups(problem.grown.trees, problem.leaf_of_group.data(), problem.groups(),
                                 problem.buckets.data(), critical);
          ASSERT_EQ(found.count, expected.size()) << critical;
          EXPECT_EQ(download(found.leaf_of_run), leaves);
          const auto runs = download(found.runs);
          for (std::size_t i = 0; i < runs.size(); ++i)
            ASSERT_EQ(std::memcmp(&runs[i], &expected[i], sizeof(Group)), 0) << critical << ", " << i;
        }
      }
}

}  // namespace
}  // namespace grove
