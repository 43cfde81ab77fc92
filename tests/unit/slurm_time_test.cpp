#include "run/guard/slurm_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace grove {
namespace {

TEST(SlurmTime, is_read_in_every_form_that_squeue_prints) {
  EXPECT_EQ(parse_slurm_time("0:43"), 43);
  EXPECT_EQ(parse_slurm_time("12:34"), 12 * 60 + 34);
  EXPECT_EQ(parse_slurm_time("1:02:03"), 3723);
  EXPECT_EQ(parse_slurm_time("2-01:02:03"), 2 * 86400 + 3723);
  EXPECT_EQ(parse_slurm_time("1-00:00:00"), 86400);
  EXPECT_TRUE(std::isinf(*parse_slurm_time("UNLIMITED")));
  EXPECT_TRUE(std::isinf(*parse_slurm_time("NOT_SET")));
}

TEST(SlurmTime, is_nothing_where_squeue_prints_no_time) {
  for (const char* text : {"", "INVALID", "12", "1:2:3:4", "a:b", "1-", "-5:00", "1:-2", "1:02 "})
    EXPECT_FALSE(parse_slurm_time(text)) << text;
}

TEST(SlurmTime, comes_from_the_environment_of_a_job) {
  unsetenv("SLURM_JOB_ID");
  EXPECT_FALSE(slurm_time_left().seconds);
  EXPECT_TRUE(slurm_time_left().fault.empty());
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 100000).c_str(), 1);
  ASSERT_TRUE(slurm_time_left().seconds);
  EXPECT_NEAR(*slurm_time_left().seconds, 100000,
              300);  // what a machine may take between two lines of a test
  unsetenv("SLURM_JOB_END_TIME");
  unsetenv("SLURM_JOB_ID");
}

TEST(SlurmTime, of_a_task_of_an_array_is_asked_for_by_its_place_there) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("grove-squeue-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "squeue") << "#!/bin/sh\n"
                                      "case \"$*\" in *--jobs=7_3*) echo 1:00:00;; *) echo 2:00:00;; esac\n";
  std::filesystem::permissions(folder / "squeue", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  setenv("SLURM_JOB_ID", "7", 1);
  EXPECT_EQ(slurm_time_left().seconds, 7200);
  setenv("SLURM_ARRAY_JOB_ID", "7", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  EXPECT_EQ(slurm_time_left().seconds, 3600);
  for (const char* name : {"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}) unsetenv(name);
  setenv("PATH", path.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(SlurmTime, that_squeue_does_not_tell_is_a_fault_and_no_limit) {
  setenv("SLURM_JOB_ID", "7", 1);
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const SlurmTime time = slurm_time_left();
  setenv("PATH", path.c_str(), 1);
  unsetenv("SLURM_JOB_ID");
  EXPECT_FALSE(time.seconds);
  EXPECT_NE(time.fault.find("squeue"), std::string::npos) << time.fault;
}

}  // namespace
}  // namespace grove
