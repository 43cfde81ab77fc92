#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/errors.hpp"
#include "time/leapfrog.hpp"
#include "time/output_times.hpp"
#include "time/timeline.hpp"

namespace grove {
namespace {

TEST(Timeline, takes_a_step_that_divides_the_span_and_shortens_any_other) {
  const Timeline exact(1, 2, 0.1);
  EXPECT_EQ(exact.steps(), 10);
  EXPECT_EQ(exact.time(10), 2.0);
  const Timeline shortened(0, 1, 0.3);
  EXPECT_EQ(shortened.steps(), 4);
  EXPECT_DOUBLE_EQ(shortened.step(), 0.25);
  EXPECT_EQ(Timeline(0, 1, 5).steps(), 1);
}

TEST(Timeline, refuses_a_run_without_duration_or_step) {
  EXPECT_THROW(Timeline(1, 1, 0.1), InputError);
  EXPECT_THROW(Timeline(0, 1, 0), InputError);
  EXPECT_THROW(Timeline(0, 1, std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW(Timeline(0, 1, 1e-20), InputError);
}

TEST(OutputTimes, regular_ones_include_begin_and_end_once) {
  EXPECT_EQ(OutputTimes::regular(0, 1, 0.25).all(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(OutputTimes::regular(0, 1, 0.4).all().back(), 1.0);
  // 0.1 * 3 differs from 0.3 in the last bit: it must not add a fourth snapshot.
  EXPECT_EQ(OutputTimes::regular(0, 0.3, 0.1).all().size(), 4u);
  EXPECT_EQ(OutputTimes::regular(2, 3, 0).all(), (std::vector<double>{2, 3}));
}

TEST(OutputTimes, listed_ones_are_sorted_and_inside_the_run) {
  const OutputTimes times = OutputTimes::listed({0.5, 0.1, 0.5}, 0, 1);
  EXPECT_EQ(times.all(), (std::vector<double>{0.1, 0.5}));
  EXPECT_EQ(times.count_before(0.1), 0u);
  EXPECT_EQ(times.count_before(0.2), 1u);
  EXPECT_THROW(OutputTimes::listed({2}, 0, 1), InputError);
}

// Harmonic oscillator x'' = -x, whose accelerations the test supplies between drift and kick.
double oscillator_error(int steps) {
  Particles p;
  p.resize(1);
  p.position[0] = {1, 0, 0};
  p.velocity[0] = {0, 0, 0};
  const auto accelerate = [&] { p.acceleration[0] = -p.position[0].as<float>(); };
  const double dt = 1.0 / steps;
  accelerate();
  for (int i = 0; i < steps; ++i) {
    kick(p, 0.5 * dt);
    drift(p, dt);
    accelerate();
    kick(p, 0.5 * dt);
  }
  return std::abs(p.position[0].x - std::cos(1.0));
}

TEST(Leapfrog, error_falls_with_the_square_of_the_step) {
  // Errors of about 1e-4 and 2.5e-5: rounding of the single-precision accelerations (6e-8) and the next term
  // of the expansion (dt^2 / 12 relative) change the ratio of 4 by less than 2 %.
  EXPECT_NEAR(oscillator_error(20) / oscillator_error(40), 4, 0.08);
}

TEST(Leapfrog, prediction_is_exact_for_constant_acceleration) {
  Particles p;
  p.resize(1);
  p.position[0] = {1, 2, 3};
  p.velocity[0] = {0.5, 0, -1};
  p.acceleration[0] = {2, 0, 4};
  predict(p, 0.5);
  EXPECT_EQ(p.position[0], (Vec3d{1.5, 2, 3}));
  EXPECT_EQ(p.velocity[0], (Vec3d{1.5, 0, 1}));
}

}  // namespace
}  // namespace grove
