// The calls that a step on GPUs makes of other ranks, and the waits of the host for its GPU, have budgets.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/activity.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "support/gpu_ranks.hpp"
#include "support/step_budgets.hpp"

namespace grove {
namespace {

class StepBudgetsOnGpu : public testing::GpuRanks {
 protected:
  void check(const testing::StepBudgets& budgets, const std::string& rule,
             const std::string& model = "plummer", Count particles = 2000) {
    const auto make = [&](Particles all, const GravityParameters& gravity) {
      return make_backend(comm_, {"cuda", true, std::nullopt}, std::move(all), gravity);
    };
    testing::check_budgets(comm_, budgets, rule, make, model, particles);
  }
  /// Waits of the host for its GPU. Arrays that do not go through NCCL are copied to the host for each rank
  /// that gets some.
  std::uint64_t waits(std::uint64_t alone, std::uint64_t with_others) const {
    if (comm_.size() == 1) return alone;
    return exchange_->path() == PayloadPath::nccl ? with_others : testing::StepBudget::any;
  }
};

TEST_F(StepBudgetsOnGpu, hold) {
  // Calls: what covers tell, with faults and the number of groups that walk; sums and agreement as on the
  // host. Groups of NCCL: targets of leaves for near ranks, and trees for those in reach; with new cuts also
  // the records of small cells, and all columns of the particles that move. The host waits for the groups
  // that walk and what covers tell, for the walks, and for the next rungs; with others also
  // for what is selected for them, and a fifth time where there was too little room for that.
  check({{"block step", {3, waits(3, 5), 2}},
         {"first block step", {3, waits(3, 5), 2}},
         {"longest step", {9, waits(8, 10), 2}},
         {"new cuts", {31, waits(14, 30), 4}}},
        "middle");
}

/// Nobody's records are cut by others; but particles of cells that are joined move once more. In the first
/// cuts of an epoch ranks tell places of some particles, and weigh parts of the cube. There are so many
/// particles that ranks cut by runs, also where three have some each. The host waits for extents and work,
/// for the sizes of what leaves, for what parts of own cells hold, for cuts (once more where a cell was not
/// cut to its leaves), and for the median of accelerations, beside the waits of a block step.
TEST_F(StepBudgetsOnGpu, of_decompositions_in_one_round_hold) {
  // One rank cuts alone, and makes calls that none hears.
  const auto calls = [&](std::uint64_t most) { return comm_.size() == 1 ? testing::StepBudget::any : most; };
  check({{"block step", {3, waits(3, 5), 2}},
         {"new cuts", {calls(10), waits(12, 12), 4}},
         {"first cuts of an epoch", {calls(11), waits(12, 12), 4}}},
        "domains", "plummer", 300000);
}

/// The host waits for nothing that renewals do, and nobody is told of them.
TEST_F(StepBudgetsOnGpu, of_renewed_trees_hold) {
  check({{"renewed trees", {3, waits(3, 5), 2}}}, "domains", "hernquist");
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
