// Runs whose checkpoints, or parts of them, cannot be made.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/host_backend.hpp"
#include "base/pages.hpp"
#include "support/checkpoint_checks.hpp"

namespace grove {
namespace {

using testing::CheckedRun;

/// Has no memory for what it would save, the first few times.
class Forgetful : public HostBackend {
 public:
  Forgetful(const Communicator& comm, Particles own, const GravityParameters& gravity, int times)
      : HostBackend(comm, std::move(own), gravity), comm_(comm), times_(times) {}
  std::vector<Count> leaf_work(const Domain& domain) const override {
    if (times_-- > 0 && comm_.rank() == comm_.size() - 1) throw OutOfMemory(std::size_t{1} << 40);
    return HostBackend::leaf_work(domain);
  }

 private:
  const Communicator& comm_;
  mutable int times_;
};

class FailedCheckpoint : public ::testing::Test {
 protected:
  /// Makes some ten steps, with a checkpoint after each; returns the checkpoints that are left, the latest
  /// first.
  std::vector<std::string> run(int failures) {
    CheckedRun merger(
        [failures](const Communicator& comm, Particles own, const GravityParameters& gravity) {
          return std::make_unique<Forgetful>(comm, std::move(own), gravity, failures);
        },
        "gravity: {softening: 0.02}\ntime: {end: 0.05, step: 0.05, eta: 0.1}\ncheckpoint: {every: 1e-9 s}\n"
        "output: {render: false}\n",
        500);
    merger.parameters.output.folder = folder_.path();
    EXPECT_EQ(merger.begin(comm_).run(), Ended::complete);
    comm_.barrier();
    return CheckpointFolder(folder_.path()).latest_first();
  }

  Communicator comm_{MPI_COMM_WORLD};
  testing::TestFolder folder_{comm_, "failed-checkpoint"};
};

TEST_F(FailedCheckpoint, for_want_of_memory_lets_the_run_go_on) {
  EXPECT_EQ(run(1000), std::vector<std::string>{});
  EXPECT_TRUE(std::filesystem::is_empty(CheckpointFolder(folder_.path()).path())) << "nothing half-written";
}

TEST_F(FailedCheckpoint, is_not_what_the_next_one_is_expected_to_take) {
  std::vector<std::string> left = run(0);
  ASSERT_EQ(left.size(), 2u);
  const RunState end = open_checkpoint(comm_, left[0]).run;
  EXPECT_GT(end.checkpoint_seconds, 0) << "that of the one before";
  left = run(static_cast<int>(end.steps_done) - 1);  // all but the last one, one per step
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(open_checkpoint(comm_, left[0]).run.checkpoint_seconds, 0) << "none was written before";
}

}  // namespace
}  // namespace grove
