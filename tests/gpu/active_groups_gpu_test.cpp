// Lists of the groups that walk.
#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "kernels/cuda/walk/active.hpp"
#include "kernels/math/block_steps.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using namespace testing;

/// Leaves with an odd number of groups, the last of which is not full, and particles of different costs on
/// three rungs.
class ActiveGroups : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) grow(LocalTreeKind::bisection);
  }

  void grow(LocalTreeKind kind) {
    GravityParameters gravity;
    gravity.tree = kind;
    gravity.softening.fill(0.01);
    Particles particles = make_shape(Shape::clumps, 5000);
    grown_.emplace(grow_on_device(particles, gravity.first_evaluation(), 280));
    groups_ = download(grown_->groups);
    interactions_.clear(), work_.clear(), rung_.clear();
    for (std::size_t i = 0; i < particles.size(); ++i) {
      interactions_.push_back(static_cast<std::uint32_t>(i * 7919 % 40000));
      rung_.push_back(static_cast<std::uint8_t>(i % 3));
      work_.push_back(work_per_cycle(interactions_[i], rung_[i]));
    }
  }

  cuda::WalkableGroups walkable() {
    grown_->groups.upload(groups_);
    work_there_ = upload(work_);
    rung_there_ = upload(rung_);
    leaf_there_ = upload(grown_->leaf_of_group);
    return {grown_->trees, leaf_there_.data(), static_cast<std::uint32_t>(groups_.size()), work_there_.data(),
            rung_there_.data()};
  }
  /// Some groups in a row have no active particles.
  void deactivate_some() {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (g / 3 % 2 == 0) groups_[g].active = 0;
  }

  bool is_first_of_pair(std::size_t g) const { return groups_[g].first % (2 * group_size) == 0; }
  bool has_second(std::size_t g) const {
    return g + 1 < groups_.size() && grown_->leaf_of_group[g + 1] == grown_->leaf_of_group[g];
  }
  /// Those to be listed, in ascending order.
  std::vector<std::uint32_t> expected(int targets_per_warp) const {
    std::vector<std::uint32_t> numbers;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      bool walks = groups_[g].active != 0;
      if (targets_per_warp > group_size)
        walks = is_first_of_pair(g) && (walks || (has_second(g) && groups_[g + 1].active != 0));
      if (walks) numbers.push_back(static_cast<std::uint32_t>(g));
    }
    return numbers;
  }
  /// The power of two of the interactions of the first active particle of a group, or else of the next one.
  int cost_class(std::size_t g) const {
    if (groups_[g].active == 0) ++g;
    const auto first = grown_->places[grown_->leaf_of_group[g]].first +
                       static_cast<std::uint64_t>(groups_[g].first + std::countr_zero(groups_[g].active));
    return std::bit_width(interactions_[first]);
  }
  void expect_all(const cuda::ActiveList& list, int targets_per_warp) const {
    std::vector<std::uint32_t> numbers = download(list.numbers);
    numbers.resize(list.count);
    for (std::size_t i = 1; i < numbers.size(); ++i)
      ASSERT_GE(cost_class(numbers[i - 1]), cost_class(numbers[i])) << i;
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers, expected(targets_per_warp));
  }

  std::optional<DeviceGrown> grown_;  ///< where there is a GPU
  std::vector<Group> groups_;
  std::vector<std::uint32_t> interactions_, work_;
  std::vector<std::uint8_t> rung_;

 private:
  cuda::DeviceArray<std::uint32_t> work_there_, leaf_there_;
  cuda::DeviceArray<std::uint8_t> rung_there_;
};

TEST_F(ActiveGroups, are_listed_once_with_the_costliest_first) {
  deactivate_some();
  for (const int targets_per_warp : {group_size, 2 * group_size}) {
    SCOPED_TRACE(targets_per_warp);
    expect_all(cuda::active_groups(walkable(), targets_per_warp), targets_per_warp);
  }
}

TEST_F(ActiveGroups, are_all_where_all_particles_are_active) {
  std::uint32_t pairs = 0;
  for (const cuda::LeafPlaces& leaf : grown_->places)
    pairs += static_cast<std::uint32_t>(leaf.groups + 1) / 2;
  ASSERT_GT(2 * pairs, groups_.size()) << "no group is alone at the end of its leaf";
  const auto groups = static_cast<std::uint32_t>(groups_.size());
  expect_all(cuda::all_groups(walkable(), group_size, groups), group_size);
  expect_all(cuda::all_groups(walkable(), 2 * group_size, pairs), 2 * group_size);
}

TEST_F(ActiveGroups, of_kd_trees_are_of_any_size) {
  grow(LocalTreeKind::kd);
  deactivate_some();
  expect_all(cuda::active_groups(walkable(), group_size), group_size);
}

TEST_F(ActiveGroups, are_none_where_no_particle_is_active) {
  for (Group& group : groups_) group.active = 0;
  EXPECT_EQ(cuda::active_groups(walkable(), group_size).count, 0U);
  EXPECT_EQ(cuda::active_groups(walkable(), 2 * group_size).count, 0U);
}

}  // namespace
}  // namespace grove
