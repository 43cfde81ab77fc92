// Runs that go on to a later end, or with other times of output.
#include <filesystem>

#include "io/snapshot.hpp"
#include "support/resume_fixture.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;

class Extension : public testing::Resume {};

TEST_F(Extension, of_a_run_that_is_extended_ends_as_one_that_went_there_at_once) {
  run_auto();
  const std::string all = bytes_of(folder_ / "snapshot_005.hdf5"), energy = bytes_of(folder_ / "energy.csv");
  on_disk([&] { fs::remove(folder_ / "snapshot_005.hdf5"); });
  run({"never", true}, {"time.end=0.04"});
  const std::string first_end = bytes_of(folder_ / "snapshot_003.hdf5");
  EXPECT_GT(run_auto(), 0);
  EXPECT_EQ(bytes_of(folder_ / "snapshot_006.hdf5"), all) << "there is one more, of the first end";
  EXPECT_EQ(bytes_of(folder_ / "snapshot_003.hdf5"), first_end) << "which is not replaced";
  EXPECT_EQ(bytes_of(folder_ / "energy.csv"), energy);
}

TEST_F(Extension, keeps_the_length_of_the_longest_step_wherever_a_run_is_extended_to) {
  const auto ends_at = [](const std::string& end) {
    return std::vector<std::string>{"time.step=0.1", "time.end=" + end};
  };
  for (const std::vector<std::string>& ends :
       {std::vector<std::string>{"0.3", "0.5"}, {"0.3", "0.4", "0.5"}}) {
    run({"never", true}, ends_at(ends[0]));
    for (const std::string& end : ends) run_auto(ends_at(end));
    EXPECT_EQ(open_checkpoint(comm_, checkpoints()[0]).run.longest_step, 0.3 / 3) << "not 0.1, nor 0.4 / 4";
  }
}

TEST_F(Extension, goes_on_in_the_units_that_its_tables_have) {
  const auto until = [](const std::string& end) {
    return std::vector<std::string>{"units.system=galactic", "time.step=0.2 Myr", "output.every=1",
                                    "time.end=" + end};
  };
  run({"never"}, until("0.4 Myr"));
  const std::string tables[] = {"energy.csv", "timing.csv", "rungs.csv", "audit.csv"};
  for (const std::string& table : tables)
    EXPECT_NE(bytes_of(folder_ / table).find("step,time [Myr],"), std::string::npos) << table;
  EXPECT_GT(run_auto(until("0.0008 Gyr")), 0);
  for (const std::string& table : tables)
    EXPECT_EQ(bytes_of(folder_ / table).find("Gyr"), std::string::npos) << table;
  const std::string energy = bytes_of(folder_ / "energy.csv"),
                    last = energy.substr(energy.rfind('\n', energy.size() - 2) + 1);
  // The table has 12 digits of what was rounded a few times.
  EXPECT_NEAR(std::stod(last.substr(last.find(',') + 1)), 0.8, 1e-11) << last;
}

TEST_F(Extension, with_other_output_times_leaves_earlier_snapshots_alone) {
  run({"never"}, {"time.end=0.04", "output.every=1"});
  ASSERT_FALSE(fs::exists(folder_ / "snapshot_002.hdf5"));
  const std::string before = bytes_of(folder_ / "snapshot_001.hdf5");
  run_auto({"output.every=0.01"});
  EXPECT_EQ(bytes_of(folder_ / "snapshot_001.hdf5"), before);
  const double expected[] = {0, 0.04, 0.05, 0.06, 0.07, 0.08};
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(read_snapshot(comm_, folder_ / fmt::format("snapshot_{:03}.hdf5", i)).header.time,
                expected[i], 1e-12);
  EXPECT_FALSE(fs::exists(folder_ / "snapshot_006.hdf5"));
}

}  // namespace
}  // namespace grove
