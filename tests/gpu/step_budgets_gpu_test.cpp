// The calls that a step on GPUs makes of other ranks, and the waits of the host for its GPU, have budgets.
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "base/activity.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "support/gpu_ranks.hpp"
#include "support/step_budgets.hpp"

namespace grove {
namespace {

class StepBudgetsOnGpu : public testing::GpuRanks {};

TEST_F(StepBudgetsOnGpu, hold) {
  // Arrays that do not go through NCCL are copied to the host for each rank that gets some.
  const bool counts_waits = comm_.size() == 1 || exchange_->path() == PayloadPath::nccl;
  const auto waits = [&](std::uint64_t most) { return counts_waits ? most : testing::StepBudget::any; };
  const testing::StepBudgets budgets = {
      // Sizes, sums and agreement as on the host, and four about faults of GPUs and the number of groups that
      // walk; roots of leaves are no collective.
      {"block step", {7, waits(30)}},
      {"first block step", {7, waits(30)}},
      {"longest step", {30, waits(80)}},
      {"new cuts", {200, waits(400)}},
  };
  testing::check_budgets(
      comm_, budgets, "middle", [&](Particles particles, const GravityParameters& gravity) {
        return make_backend(comm_, {"cuda", true, std::nullopt}, std::move(particles), gravity);
      });
}

TEST_F(StepBudgetsOnGpu, count_known_calls) {
  std::vector<std::uint32_t> numbers(1000);
  const cuda::DeviceArray<std::uint32_t> on_device(numbers.size());
  const Activity before = activity();
  cuda::number_elements(on_device.data(), numbers.size());
  Activity made = activity() - before;
  EXPECT_EQ(made.launches, 1u);
  EXPECT_EQ(made.host_waits, 0u);
  on_device.download(numbers);
  cuda::device_synchronise();
  made = activity() - before;
  EXPECT_EQ(made.launches, 1u);
  EXPECT_EQ(made.host_waits, 2u);
  EXPECT_EQ(made.collectives + made.messages + made.sent + made.nccl_groups, 0u);
  EXPECT_EQ(numbers[999], 999u);
}

}  // namespace
}  // namespace grove
