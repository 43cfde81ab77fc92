#include "run/guard/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/timers.hpp"
#include "gravity/gravity.hpp"
#include "run/guard/step_forecast.hpp"

namespace grove {
namespace {

Progress::State at(std::uint64_t steps, double expected = 0, const char* call = nullptr) {
  return {steps, "walk", call, expected};
}

TEST(StallDetector, speaks_after_the_time_that_is_allowed_without_progress) {
  StallDetector detector(10);
  EXPECT_FALSE(detector.look(at(1), 1));
  for (int second = 1; second <= 10; ++second) EXPECT_FALSE(detector.look(at(1), 1)) << second;
  EXPECT_TRUE(detector.look(at(1), 1));
}

TEST(StallDetector, is_silent_while_there_is_progress) {
  StallDetector detector(10);
  for (std::uint64_t step = 0; step < 1000; ++step) EXPECT_FALSE(detector.look(at(step / 8), 1)) << step;
}

TEST(StallDetector, allows_twenty_times_what_was_predicted) {
  StallDetector detector(10);
  detector.look(at(1, 100), 0);
  EXPECT_FALSE(detector.look(at(1, 100), 1999));
  EXPECT_TRUE(detector.look(at(1, 100), 2));
}

TEST(StallDetector, allows_once_what_is_a_bound_already) {
  StallDetector detector(10);
  detector.look(at(1, at_most(1000)), 0);
  EXPECT_FALSE(detector.look(at(1, at_most(1000)), 999));
  EXPECT_TRUE(detector.look(at(1, at_most(1000)), 2));
}

TEST(StallDetector, lets_the_rank_speak_first_that_others_wait_for) {
  StallDetector waits(10), hangs(10);
  waits.look(at(1, 0, "MPI_Barrier(comm)"), 0);
  hangs.look(at(1), 0);
  EXPECT_TRUE(hangs.look(at(1), 11));
  EXPECT_FALSE(waits.look(at(1, 0, "MPI_Barrier(comm)"), 11));
  EXPECT_TRUE(waits.look(at(1, 0, "MPI_Barrier(comm)"), 5));
}

TEST(Progress, tells_the_innermost_phase) {
  PhaseTimers timers;
  const auto before = progress().state();
  {
    const auto outer = timers.time("outer");
    {
      const auto inner = timers.time("inner");
      EXPECT_EQ(progress().state().phase, "inner");
    }
    EXPECT_EQ(progress().state().phase, "outer");
  }
  EXPECT_EQ(progress().state().phase, before.phase);
  EXPECT_EQ(progress().state().steps, before.steps + 4);
}

TEST(Progress, expects_what_was_predicted_for_the_inner_block) {
  const Expected outer(3);
  {
    const Expected inner(7);
    EXPECT_EQ(progress().state().expected, 7);
  }
  EXPECT_EQ(progress().state().expected, 3);
}

ForceReport walked(std::size_t rung, Count active, Count work) {
  ForceReport forces;
  forces.active_of[rung] = active;
  forces.work[rung] = work;
  return forces;
}

TEST(StepForecast, grows_with_the_interactions_to_come) {
  StepForecast forecast;
  forecast.add(walked(0, 1000, 500000), 2);
  RungCounts particles{};
  particles[0] = 1000;
  EXPECT_DOUBLE_EQ(forecast.seconds(particles, 0), 2);
  particles[0] = 4000;
  EXPECT_DOUBLE_EQ(forecast.seconds(particles, 0), 8);
  // Those of the longest steps are not active.
  EXPECT_DOUBLE_EQ(forecast.seconds(particles, 1), 0);
}

TEST(StepForecast, of_a_long_step_is_not_shortened_by_any_number_of_short_ones) {
  StepForecast forecast;
  forecast.add(walked(0, 1000000, 500000000), 10);
  for (int step = 0; step < 100000; ++step) forecast.add(walked(9, 10, 5000), 0.001);
  RungCounts particles{};
  particles[0] = 1000000;
  EXPECT_GE(forecast.seconds(particles, 0), 10);
}

TEST(StepForecast, forgets_what_was_slow_once) {
  StepForecast forecast;
  forecast.add(walked(0, 1000, 500000), 1000);
  for (int step = 0; step < 200; ++step) forecast.add(walked(0, 1000, 500000), 1);
  RungCounts particles{};
  particles[0] = 1000;
  EXPECT_NEAR(forecast.seconds(particles, 0), 1, 1e-9);  // 1000 x 0.95^200 < 0.04
}

TEST(ReadingSeconds, count_files_down_to_a_level) {
  const Communicator comm(MPI_COMM_WORLD);
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("grove-reading-" + std::to_string(getpid()));
  fs::create_directories(folder / "one" / "two");
  for (const fs::path& path : {folder / "a", folder / "one" / "b", folder / "one" / "two" / "c"})
    std::ofstream(path) << std::string(1000, ' ');
  EXPECT_DOUBLE_EQ(reading_seconds(comm, folder, 0), 1000 / 1e8);
  EXPECT_DOUBLE_EQ(reading_seconds(comm, folder, 1), 2000 / 1e8);
  EXPECT_EQ(reading_seconds(comm, folder / "missing", 1), 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace grove
