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

/// Groups of leaves of all sizes, and particles of different costs on three rungs.
class ActiveGroups : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    GravityParameters gravity;
    gravity.softening.fill(0.01);
    particles_ = make_shape(Shape::clumps, 5000);
    grown_.emplace(grow_on_device(particles_, gravity.first_evaluation(), 300));
    groups_ = download(grown_->groups);
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      interactions_.push_back(static_cast<std::uint32_t>(i * 7919 % 40000));
      rung_.push_back(static_cast<std::uint8_t>(i % 3));
      work_.push_back(work_per_cycle(interactions_[i], rung_[i]));
    }
  }

  cuda::ActiveList listed(int targets_per_warp) {
    grown_->groups.upload(groups_);
    work_there_ = upload(work_);
    rung_there_ = upload(rung_);
    leaf_there_ = upload(grown_->leaf_of_group);
    const cuda::WalkableGroups all{grown_->trees, leaf_there_.data(),
                                   static_cast<std::uint32_t>(groups_.size()), work_there_.data(),
                                   rung_there_.data()};
    return cuda::active_groups(all, targets_per_warp);
  }

  bool is_first_of_pair(std::size_t g) const { return groups_[g].first % (2 * group_size) == 0; }
  bool has_second(std::size_t g) const {
    return g + 1 < groups_.size() && grown_->leaf_of_group[g + 1] == grown_->leaf_of_group[g];
  }
  /// The power of two of the interactions of the first active particle of a group, or else of the next one.
  int cost_class(std::size_t g) const {
    if (groups_[g].active == 0) ++g;
    const auto first = grown_->places[grown_->leaf_of_group[g]].first +
                       static_cast<std::uint64_t>(groups_[g].first + std::countr_zero(groups_[g].active));
    return std::bit_width(interactions_[first]);
  }
  void expect_order(const std::vector<std::uint32_t>& numbers) const {
    for (std::size_t i = 1; i < numbers.size(); ++i)
      ASSERT_GE(cost_class(numbers[i - 1]), cost_class(numbers[i])) << i;
  }

  Particles particles_;
  std::optional<DeviceGrown> grown_;  ///< where there is a GPU
  std::vector<Group> groups_;
  std::vector<std::uint32_t> interactions_, work_;
  std::vector<std::uint8_t> rung_;

 private:
  cuda::DeviceArray<std::uint32_t> work_there_, leaf_there_;
  cuda::DeviceArray<std::uint8_t> rung_there_;
};

std::vector<std::uint32_t> numbers_of(const cuda::ActiveList& list) {
  std::vector<std::uint32_t> numbers = download(list.numbers);
  numbers.resize(list.count);
  return numbers;
}

TEST_F(ActiveGroups, are_listed_once_with_the_costliest_first) {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    groups_[g].active &= g % 3 == 0 ? 0U : 0xfffffff0U << g % 5;
  for (const int targets_per_warp : {group_size, 2 * group_size}) {
    SCOPED_TRACE(targets_per_warp);
    std::vector<std::uint32_t> expected;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      bool walks = groups_[g].active != 0;
      if (targets_per_warp > group_size)
        walks = is_first_of_pair(g) && (walks || (has_second(g) && groups_[g + 1].active != 0));
      if (walks) expected.push_back(static_cast<std::uint32_t>(g));
    }
    ASSERT_LT(expected.size(), groups_.size());
    std::vector<std::uint32_t> numbers = numbers_of(listed(targets_per_warp));
    expect_order(numbers);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers, expected);
  }
}

TEST_F(ActiveGroups, are_none_where_no_particle_is_active) {
  for (Group& group : groups_) group.active = 0;
  EXPECT_EQ(listed(group_size).count, 0U);
  EXPECT_EQ(listed(2 * group_size).count, 0U);
}

}  // namespace
}  // namespace grove
