// Time steps in expanding space.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/errors.hpp"
#include "time/block_clock.hpp"
#include "time/leapfrog.hpp"

namespace grove {
namespace {

ExpandingTime expanding(bool even_in_logarithm, const Cosmology& cosmology = {}) {
  return {std::make_shared<Expansion>(cosmology), even_in_logarithm};
}

Timeline from_z_49(bool even_in_logarithm, std::int64_t steps) {
  const ExpandingTime space = expanding(even_in_logarithm);
  const double begin = space.expansion->time(0.02), end = space.expansion->time(1);
  const double span = even_in_logarithm ? std::log(50.) : end - begin;
  return {begin, end, span / static_cast<double>(steps), DisplayUnits::none(), space};
}

TEST(ComovingTimeline, has_equal_steps_in_time_or_in_the_logarithm) {
  const Timeline in_time = from_z_49(false, 100), in_logarithm = from_z_49(true, 100);
  for (const Timeline& timeline : {in_time, in_logarithm}) {
    EXPECT_EQ(timeline.steps(), 100);
    EXPECT_NEAR(timeline.scale_factor(0, 0, 4), 0.02, 1e-14);
    EXPECT_NEAR(timeline.scale_factor(100, 0, 4), 1, 1e-13);
    EXPECT_EQ(timeline.time(100), timeline.end());
    // Times go through scale factors, to a relative error of 1e-13, and are compared with those of a step.
    EXPECT_NEAR(timeline.steps_to(timeline.time(37, 1, 4)), 37.25, 1e-9);
    EXPECT_NEAR(timeline.length(37), timeline.time(38) - timeline.time(37), 1e-12);
  }
  EXPECT_NEAR(in_time.time(50), 0.5 * (in_time.begin() + in_time.end()), 1e-14);
  EXPECT_NEAR(in_logarithm.scale_factor(50, 0, 4), std::sqrt(0.02), 1e-14);
  EXPECT_NEAR(in_logarithm.scale_factor(49, 1, 2), 0.02 * std::pow(50, 0.495), 1e-14);
}

TEST(ComovingTimeline, does_not_begin_with_the_big_bang) {
  EXPECT_THROW(Timeline(0, 1, 0.1, DisplayUnits::none(), expanding(false)), InputError);
}

TEST(ComovingTimeline, goes_on_by_steps_of_the_same_kind) {
  for (const bool even_in_logarithm : {false, true}) {
    const Timeline first = from_z_49(even_in_logarithm, 100);
    const ExpandingTime space = expanding(even_in_logarithm);
    const Timeline half =
        Timeline::extended(first.begin(), first.time(50), first.step(), DisplayUnits::none(), space);
    EXPECT_EQ(half.steps(), 50);
    EXPECT_EQ(half.time(30, 3, 8), first.time(30, 3, 8));
    EXPECT_THROW(
        Timeline::extended(first.begin(), first.time(50, 1, 2), first.step(), DisplayUnits::none(), space),
        InputError);
  }
}

// Halving steps keeps what particles go through: kicks and drifts of a longest step are sums of those of its
// parts.
TEST(ComovingClock, factors_of_short_steps_add_up_to_those_of_long_ones) {
  for (const bool even_in_logarithm : {false, true}) {
    const Timeline timeline = from_z_49(even_in_logarithm, 10);
    const BlockClock whole(timeline);
    BlockClock parts(timeline);
    double kick = 0, drift = 0, time = 0;
    for (int i = 0; i < 8; ++i) {
      kick += parts.opening_kick().factor.of[3];
      drift += parts.drift(Integrator::leapfrog, 3).factor;
      time += parts.step_of(3);
      parts.advance(3);
      kick += parts.closing_kick().factor.of[3];
    }
    ASSERT_EQ(parts.steps_done(), 1);
    EXPECT_NEAR(kick / (whole.opening_kick().factor.of[0] + parts.closing_kick().factor.of[0]), 1, 1e-13);
    EXPECT_NEAR(drift / whole.drift(Integrator::leapfrog, 0).factor, 1, 1e-13);
    EXPECT_NEAR(time / whole.step_of(0), 1, 1e-13);
    // Where there is only matter H0 is 1, and integrals of dt / a are 2 sqrt(a), of dt / a^2 -2 / sqrt(a).
    const double a = whole.scale_factor(), later = parts.scale_factor();
    EXPECT_NEAR(kick / (2 * (std::sqrt(later) - std::sqrt(a))), 1, 1e-12);
    EXPECT_NEAR(drift / (2 / std::sqrt(a) - 2 / std::sqrt(later)), 1, 1e-12);
  }
}

// In matter alone, H0 = 1: the integral of dt / a is 2 sqrt(a), and t = 2/3 a^(3/2). Steps even in ln a have
// their middle there. Products of differences, whose terms lose two digits or three.
TEST(ComovingClock, tells_where_particles_are_inside_of_their_steps) {
  const Timeline timeline = from_z_49(true, 10);
  BlockClock clock(timeline);
  clock.advance(2);  // a quarter of the step of rung 0, half of that of rung 1
  const double begin = timeline.scale_factor(0, 0, 4), now = clock.scale_factor();
  const auto time = [](double a) { return 2. / 3 * std::pow(a, 1.5); };
  const BlockClock::Inside inside = clock.inside(false), ending = clock.inside(true);
  for (const int rung : {0, 1}) {
    const double end = timeline.scale_factor(0, rung == 0 ? 4 : 2, 4), middle = std::sqrt(begin * end);
    EXPECT_NEAR(inside.since_middle.of[rung], 2 * (std::sqrt(now) - std::sqrt(middle)),
                1e-12 * std::sqrt(now));
    const double behind = 0.5 * (time(now) - time(begin)) * (time(end) - time(now)) / std::pow(now, 3);
    EXPECT_NEAR(inside.behind.of[rung], behind, 1e-11 * behind);
    EXPECT_EQ(ending.since_middle.of[rung], inside.since_middle.of[rung]);
  }
  for (const int rung : {2, 3}) {
    EXPECT_EQ(inside.since_middle.of[rung], 0) << "they are synchronised";
    EXPECT_EQ(inside.behind.of[rung], 0);
    EXPECT_EQ(ending.since_middle.of[rung], clock.closing_kick().factor.of[rung]);
  }
}

/// The growing mode of error_of_growth(): x - x0 = a, p = a^2 dx/dt = a^3 H = a^(3/2), with its gravity.
Particles growing_mode(double a, int rung) {
  Particles p;
  p.resize(1);
  p.position[0] = {a, 0, 0};
  p.velocity[0] = {std::pow(a, 1.5), 0, 0};
  p.acceleration[0] = (1.5 * p.position[0]).as<float>();
  p.rung[0] = static_cast<std::uint8_t>(rung);
  return p;
}

/// A particle of the shell of a small overdensity in a universe of matter, H0 = 1, as its linear equation:
/// comoving gravity relative to the background g = 3/2 Omega_m H0^2 delta x0 / 3 with delta = -3 (x - x0) /
/// x0, so that x - x0 grows with D = a. Returns the relative error of x - x0 at the end.
double error_of_growth(int steps, bool even_in_logarithm, int rung) {
  const Timeline timeline = from_z_49(even_in_logarithm, steps);
  BlockClock clock(timeline);
  Particles p = growing_mode(clock.scale_factor(), rung);
  while (!clock.is_done()) {
    kick(p, clock.opening_kick());
    drift(p, clock.drift(Integrator::leapfrog, rung));
    clock.advance(rung);
    p.acceleration[0] = (1.5 * p.position[0]).as<float>();
    kick(p, clock.closing_kick());
  }
  return p.position[0].x - 1;
}

// Second order: half the step has a quarter of the error, to 5 % (the next term); accelerations are rounded
// to 6e-8, errors are 1e-2 to 1e-4.
TEST(ComovingLeapfrog, error_falls_with_the_square_of_the_step) {
  for (const bool even_in_logarithm : {false, true}) {
    const int steps = even_in_logarithm ? 64 : 1024;
    const double error = error_of_growth(steps, even_in_logarithm, 0);
    EXPECT_GT(std::abs(error), 1e-4);
    EXPECT_NEAR(error / error_of_growth(2 * steps, even_in_logarithm, 0), 4, 0.2);
    // Rungs take the same steps; they lie elsewhere only where times are rounded.
    EXPECT_NEAR(error_of_growth(steps, even_in_logarithm, 1),
                error_of_growth(2 * steps, even_in_logarithm, 0), 1e-7);
  }
}

// Between steps x goes with a and p with a^(3/2). The prediction has the force of the beginning, so that at
// most a half step y = 1/128 in ln a later it misses 3/4 y^2 of p and, of x, terms of y^3.
TEST(ComovingLeapfrog, is_predicted_between_steps) {
  const Timeline timeline = from_z_49(true, 250);
  BlockClock clock(timeline);
  Particles p = growing_mode(clock.scale_factor(), 0);
  const auto expect_at = [&](double time, Particles copy) {
    const double then = timeline.expansion()->scale_factor(time);
    predict(copy, clock.prediction(Integrator::leapfrog, time));
    const double y = 1. / 128;
    EXPECT_NEAR(copy.position[0].x / then, 1, y * y * y);
    EXPECT_NEAR(copy.velocity[0].x / std::pow(then, 1.5), 1, y * y);
  };
  expect_at(timeline.time(0, 1, 2), p);  // of a particle that is synchronised
  kick(p, clock.opening_kick());
  drift(p, clock.drift(Integrator::leapfrog, 2));
  clock.advance(2);
  expect_at(timeline.time(0, 1, 4), p);  // of one inside of its step
  expect_at(timeline.time(0, 3, 8), p);
}

}  // namespace
}  // namespace grove
