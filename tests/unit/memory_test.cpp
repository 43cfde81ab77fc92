#include "base/memory.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace grove {
namespace {

class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups()
      : folder_(std::filesystem::temp_directory_path() / ("grove-groups-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~ControlGroups() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  double room(const std::string& membership) {
    write("membership", membership);
    return room_in_control_groups(folder_ / "root", folder_ / "membership");
  }
  std::filesystem::path folder_;
};

TEST_F(ControlGroups, of_version_2_leave_what_the_tightest_above_leaves) {
  write("root/slurm/job_7/memory.max", "max");
  write("root/slurm/job_7/memory.current", "900");
  write("root/slurm/memory.max", "1000");
  write("root/slurm/memory.current", "950");
  write("root/slurm/memory.stat", "anon 5\ninactive_file 250");
  EXPECT_EQ(room("0::/slurm/job_7"), 300);
  write("root/memory.max", "800");
  write("root/memory.current", "790");
  EXPECT_EQ(room("0::/slurm/job_7"), 10);
  EXPECT_EQ(room("0::/"), 10);
}

TEST_F(ControlGroups, of_version_1_are_those_of_memory) {
  write("root/memory/slurm/job_7/memory.limit_in_bytes", "1000");
  write("root/memory/slurm/job_7/memory.usage_in_bytes", "800");
  write("root/memory/slurm/job_7/memory.stat", "inactive_file 9\ntotal_inactive_file 40");
  EXPECT_EQ(room("9:cpu,cpuacct:/\n4:memory:/slurm/job_7\n0::/slurm"), 240);
}

TEST_F(ControlGroups, that_use_more_than_their_limit_leave_nothing) {
  write("root/a/memory.max", "1000");
  write("root/a/memory.current", "1001");
  EXPECT_EQ(room("0::/a"), 0);
}

TEST_F(ControlGroups, without_limits_leave_all_there_is) {
  EXPECT_TRUE(std::isinf(room("0::/user")));
  EXPECT_TRUE(std::isinf(room_in_control_groups(folder_ / "root", folder_ / "no such file")));
}

}  // namespace
}  // namespace grove
