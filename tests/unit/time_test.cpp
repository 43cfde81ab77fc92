#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <string>

#include "base/errors.hpp"
#include "time/block_clock.hpp"
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
  // 1000000.3 - 1000000 is 0.3 to 5e-11 only.
  EXPECT_EQ(Timeline(1e6, 1e6 + 0.3, 0.1).steps(), 3);
}

TEST(Timeline, refuses_a_run_without_duration_or_step) {
  EXPECT_THROW(Timeline(1, 1, 0.1), InputError);
  EXPECT_THROW(Timeline(0, 1, 0), InputError);
  EXPECT_THROW(Timeline(0, 1, std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW(Timeline(0, 1, 1e-20), InputError);
}

TEST(Timeline, is_extended_by_the_steps_that_it_has) {
  const Timeline first(0, 0.3, 0.1);
  ASSERT_NE(first.step(), 0.1) << "0.3 / 3 is less, by rounding";
  const Timeline extended = Timeline::extended(0, 1, first.step());
  EXPECT_EQ(extended.step(), first.step());
  EXPECT_EQ(extended.steps(), 10);
  EXPECT_EQ(extended.time(2), first.time(2));
  EXPECT_EQ(extended.time(10), 1);
  // 1000000.3 - 1000000 is 0.3 to 5e-11 only, and so is a third of it 0.1.
  EXPECT_EQ(Timeline::extended(1e6, 1e6 + 300, Timeline(1e6, 1e6 + 0.3, 0.1).step()).steps(), 3000);
  EXPECT_THROW(Timeline::extended(0, 1, 0.3), InputError);
  EXPECT_THROW(Timeline::extended(0, 0.1, 0.3), InputError);
  EXPECT_THROW(Timeline::extended(1, 0.1, 0.3), InputError);
}

// In a universe of matter alone a = (3 H0 t / 2)^(2/3): 1 at 2 / (3 H0), 1/4 at an eighth of that.
TEST(Timeline, tells_moments_with_their_redshift) {
  Cosmology flat;
  flat.hubble = 2. / 3;
  const Expansion expansion(flat);
  const DisplayUnits none = DisplayUnits::none();
  EXPECT_EQ(moment_text(0.125, none, &expansion), "0.125 (z = 3)");
  EXPECT_EQ(moment_text(1, none, &expansion), "1 (z = 0)");
  EXPECT_EQ(moment_text(0, none, &expansion), "0");
  EXPECT_EQ(moment_text(0.125, none, nullptr), "0.125");
}

// The ends that the message names, read as a user would type them, are taken, and lie around the wrong one.
TEST(Timeline, names_the_ends_that_are_next) {
  struct Case {
    double begin, step, wrong;
    const char* named;
  };
  const double third = Timeline(0, 1, 0.35).step(), late = Timeline(1e6, 1e6 + 0.3, 0.1).step();
  for (const Case& c :
       {Case{0, 0.01, 0.305, "0.3 or 0.31,"}, Case{0, 0.3, 0.1, "0.3 or 0.6,"},
        Case{2, third, 12.1, "12 or 12.3333333333"}, Case{0, 1, 1234567.5, "1234567 or 1234568,"},
        Case{1e6, late, 1e6 + 12.34, "1000012.3 or 1000012.4,"}, Case{-5, 0.25, -3.9, "-4 or -3.75,"},
        Case{0, 1, -4, "1 or 2,"}}) {
    std::string message;
    try {
      Timeline::extended(c.begin, c.wrong, c.step);
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(std::string("such as ") + c.named), std::string::npos) << message;
    std::smatch ends;
    ASSERT_TRUE(std::regex_search(message, ends, std::regex("such as (\\S+) or ([^ ,]+)"))) << message;
    const auto steps_to = [&](const std::string& end) {
      return Timeline::extended(c.begin, std::stod(end), c.step).steps();
    };
    EXPECT_EQ(steps_to(ends[2]), steps_to(ends[1]) + 1) << message;
  }
}

TEST(OutputTimes, regular_ones_include_begin_and_end_once) {
  EXPECT_EQ(OutputTimes::regular(0, 1, 0.25).all(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(OutputTimes::regular(0, 1, 0.4).all().back(), 1.0);
  // 0.1 * 3 differs from 0.3 in the last bit: it must not add a fourth snapshot.
  EXPECT_EQ(OutputTimes::regular(0, 0.3, 0.1).all().size(), 4u);
  EXPECT_EQ(OutputTimes::regular(2, 3, 0).all(), (std::vector<double>{2, 3}));
}

TEST(OutputTimes, are_at_the_ends_of_steps_however_late) {
  EXPECT_EQ(OutputTimes::regular(1e6, 1e6 + 0.3, 0.1).all().size(), 4u);
  // Steps of 1/10 up to 1e8, where a last bit is 1.5e-8: every third one ends with an output.
  const Timeline timeline(1e8 - 30, 1e8, 0.1);
  const OutputTimes times = OutputTimes::regular(timeline.begin(), timeline.end(), 0.3);
  ASSERT_EQ(timeline.steps(), 300);
  ASSERT_EQ(times.all().size(), 101u);
  for (std::size_t i = 0; i < times.all().size(); ++i)
    EXPECT_LE(std::abs(times.all()[i] - timeline.time(3 * static_cast<std::int64_t>(i))),
              timeline.rounding());
  EXPECT_LT(timeline.rounding(), 1e-5 * timeline.step()) << "and tells times apart";
}

TEST(OutputTimes, listed_ones_are_sorted_and_inside_the_run) {
  const OutputTimes times = OutputTimes::listed({0.5, 0.1, 0.5}, 0, 1, {});
  EXPECT_EQ(times.all(), (std::vector<double>{0.1, 0.5}));
  EXPECT_EQ(times.count_before(0.1), 0u);
  EXPECT_EQ(times.count_before(0.2), 1u);
  EXPECT_THROW(OutputTimes::listed({2}, 0, 1, [](double time) { return std::to_string(time); }), InputError);
}

// Harmonic oscillator x'' = -x, whose accelerations the test supplies between drift and kick.
double oscillator_error(int steps, Integrator integrator = Integrator::leapfrog) {
  Particles p;
  p.resize(1);
  p.position[0] = {1, 0, 0};
  p.velocity[0] = {0, 0, 0};
  p.rung[0] = 0;
  const auto accelerate = [&] { p.acceleration[0] = -p.position[0].as<float>(); };
  const double dt = 1.0 / steps;
  accelerate();
  BlockClock clock(Timeline(0, 1, dt));
  for (int i = 0; i < steps; ++i) {
    kick(p, clock.opening_kick());
    drift(p, clock.drift(integrator, 0));
    clock.advance(0);
    accelerate();
    kick(p, clock.closing_kick());
  }
  return std::abs(p.position[0].x - std::cos(1.0));
}

TEST(Leapfrog, error_falls_with_the_square_of_the_step) {
  // Errors of about 1e-4 and 2.5e-5: rounding of the single-precision accelerations (6e-8) and the next term
  // of the expansion (dt^2 / 12 relative) change the ratio of 4 by less than 2 %.
  EXPECT_NEAR(oscillator_error(20) / oscillator_error(40), 4, 0.08);
}

TEST(Leapfrog, integrators_agree_while_steps_are_shared) {
  EXPECT_EQ(oscillator_error(20, Integrator::predictor_corrector),
            oscillator_error(20, Integrator::leapfrog));
}

TEST(BlockClock, rungs_are_synchronised_when_their_steps_divide_the_time) {
  BlockClock clock(Timeline(0, 2, 1));
  EXPECT_EQ(clock.first_active(), 0);
  clock.advance(3);
  EXPECT_EQ(clock.first_active(), 3);
  EXPECT_DOUBLE_EQ(clock.time(), 0.125);
  clock.advance(3);
  EXPECT_EQ(clock.first_active(), 2);
  clock.advance(2);
  EXPECT_EQ(clock.first_active(), 1);
  EXPECT_FALSE(clock.is_synchronised());
  clock.advance(1);
  EXPECT_EQ(clock.first_active(), 0);
  EXPECT_TRUE(clock.is_synchronised());
  EXPECT_EQ(clock.steps_done(), 1);
  EXPECT_EQ(clock.time(), 1.0);
  clock.advance(0);
  EXPECT_TRUE(clock.is_done());
}

TEST(BlockClock, knows_longest_steps_that_are_done_in_part) {
  BlockClock clock(Timeline(0, 2, 1));
  EXPECT_EQ(clock.longest_steps(), 0);
  clock.advance(2);
  EXPECT_EQ(clock.longest_steps(), 0.25);
  for (int i = 0; i < 4; ++i) clock.advance(2);
  EXPECT_EQ(clock.longest_steps(), 1.25);
}

TEST(BlockClock, kicks_of_a_longest_step_add_up_to_it_on_the_deepest_rung) {
  // The shortest step is 2^-40; a power of two of them is left out, the last of which is the longest step's
  // end: time goes on exactly.
  BlockClock clock(Timeline(0, 1, 1));
  clock.advance(deepest_rung);
  EXPECT_EQ(clock.first_active(), deepest_rung);
  EXPECT_EQ(clock.time(), std::ldexp(1.0, -deepest_rung));
  EXPECT_EQ(clock.opening_kick().factor.of[deepest_rung], std::ldexp(1.0, -deepest_rung - 1));
  for (int rung = deepest_rung; rung >= 1; --rung) clock.advance(rung);
  EXPECT_TRUE(clock.is_done());
  EXPECT_EQ(clock.closing_kick().factor.of[0], 0.5);
}

// After 2^20, where a last bit is 2^-32, differences of times would give a step of rung 30 in one bit, and
// one of rung 35 none. Steps are divided by powers of two: exact.
TEST(BlockClock, steps_have_all_their_digits_however_late_and_short) {
  const Timeline timeline(1048576, 1048577, 1.0 / 3);
  for (const int rung : {0, 30, 35, deepest_rung}) {
    BlockClock clock(timeline);
    clock.advance(0);
    const double half_step = std::ldexp(1.0 / 3, -rung - 1);
    EXPECT_EQ(clock.opening_kick().factor.of[rung], half_step) << "rung " << rung;
    EXPECT_EQ(clock.drift(Integrator::leapfrog, rung).factor, 2 * half_step) << "rung " << rung;
    clock.advance(rung);
    EXPECT_EQ(clock.closing_kick().factor.of[rung], half_step) << "at the end, rung " << rung;
  }
}

TEST(BlockClock, steps_of_a_rung_are_shared_ones_of_that_length_bit_for_bit) {
  const BlockClock block(Timeline(0.1, 0.7, 0.3)), shared(Timeline(0.1, 0.7, 0.3 / 8));
  EXPECT_EQ(block.opening_kick().factor.of[3], shared.opening_kick().factor.of[0]);
  EXPECT_EQ(block.drift(Integrator::leapfrog, 3).factor, shared.drift(Integrator::leapfrog, 0).factor);
  EXPECT_EQ(block.end_of(3), shared.end_of(0));
}

// A particle on rung 0 under constant acceleration a, while others take it through four short steps; in the
// middle of its step it is at v t + a t^2 / 2 as the predictor has it, and on the straight line as the
// leapfrog has it; at the end both are at v + a / 2.
void follow_constant_acceleration(Integrator integrator, double expected_at_half) {
  Particles p;
  p.resize(1);
  p.position[0] = {0, 0, 0};
  p.velocity[0] = {1, 0, 0};
  p.acceleration[0] = {2, 0, 0};
  p.rung[0] = 0;
  BlockClock clock(Timeline(0, 1, 1));
  kick(p, clock.opening_kick());
  const auto go = [&] {
    drift(p, clock.drift(integrator, 2));
    clock.advance(2);
    kick(p, clock.closing_kick());
  };
  const auto at = [&](double time) {
    Particles then = p;
    predict(then, clock.prediction(integrator, time));
    return then;
  };
  go();
  go();
  EXPECT_DOUBLE_EQ(p.position[0].x, expected_at_half);
  // Output between steps lies on the parabola, whatever the integrator.
  EXPECT_DOUBLE_EQ(at(0.5).position[0].x, 0.75);
  EXPECT_DOUBLE_EQ(at(0.5).velocity[0].x, 2);
  EXPECT_DOUBLE_EQ(at(0.7).position[0].x, 0.7 + 0.49);
  EXPECT_DOUBLE_EQ(at(0.7).velocity[0].x, 1 + 2 * 0.7);
  go();
  go();
  EXPECT_DOUBLE_EQ(p.position[0].x, 2);
  EXPECT_DOUBLE_EQ(p.velocity[0].x, 3);
}

TEST(BlockClock, leads_particles_between_their_steps_as_the_integrator_says) {
  follow_constant_acceleration(Integrator::leapfrog, 0.5 * (1 + 1));
  follow_constant_acceleration(Integrator::predictor_corrector, 0.5 + 0.25);
}

TEST(StepRule, gives_the_longest_step_that_the_criterion_allows) {
  StepRule rule{.eta = 0.5, .longest = 1, .length = {1, 4}, .deepest = 10};
  const auto rung = [&](const Vec3f& acceleration, std::uint8_t type = 0) {
    return int{rule.next_rung(acceleration, {0, 0, 0}, type, 0, 0)};
  };
  // 0.5 sqrt(1 / |a|): 1/2, 1/4, and between them.
  EXPECT_EQ(rung({1, 0, 0}), 1);
  EXPECT_EQ(rung({4, 0, 0}), 2);
  EXPECT_EQ(rung({0, 1.001F, 0}), 2);
  EXPECT_EQ(rung({0, 1, 0}, 1), 0) << "four times the length, twice the step";
  EXPECT_EQ(rung({0, 0, 0}), 0);
  EXPECT_EQ(rung({0, 0, 1e30F}), 10);
  EXPECT_EQ(rung({0, 0, std::numeric_limits<float>::quiet_NaN()}), 10);
  EXPECT_EQ(rung({0, 0, std::numeric_limits<float>::infinity()}), 10);
  rule.deepest = 0;
  EXPECT_EQ(rung({4, 0, 0}), 0) << "shared steps";
}

// Steps of 2^-k are allowed where the mean of |a| at both ends is at most 4^k / 4.
TEST(StepRule, looks_ahead_to_the_end_of_the_step) {
  const StepRule rule{.eta = 0.5, .longest = 1, .length = {1}, .deepest = 10};
  const auto rung = [&](float now, float before, int last) {
    return int{rule.next_rung({now, 0, 0}, {before, 0, 0}, 0, last, 0)};
  };
  EXPECT_EQ(rung(0.9F, 0.9F, 1), 1) << "nothing changes";
  // After a step of 1/2: another half would end at 1.2, mean 1.05; a quarter at 1.05, mean 0.975.
  EXPECT_EQ(rung(0.9F, 0.6F, 1), 2) << "on the way in";
  EXPECT_EQ(rung(1.1F, 1.4F, 1), 1) << "on the way out: ends at 0.8, mean 0.95";
  // Through the centre: from -0.3 to 0.3, |a| does not change.
  EXPECT_EQ(rung(-0.3F, -0.9F, 1), 1) << "in steps of 1/2 on to 0.3; in one of 1 to 0.9";
  EXPECT_EQ(rung(-0.1F, -0.2F, 0), 0) << "ends at 0";
}

TEST(Rungs, become_longer_only_when_a_longer_step_begins) {
  Particles p;
  p.resize(3);
  for (std::size_t i = 0; i < 3; ++i)
    p.acceleration[i] = p.previous_acceleration[i] = {0, 0, 0}, p.type[i] = 0;
  p.rung[0] = 1, p.rung[1] = 3, p.rung[2] = 3;
  for (std::size_t i = 0; i < 3; ++i) p.work[i] = work_per_cycle(100, p.rung[i]);
  p.acceleration[2] = {256, 0, 0};
  const StepRule rule{.eta = 1, .longest = 1, .length = {1}, .deepest = 10};
  const RungCounts counts = choose_rungs(p, rule, 2);
  EXPECT_EQ(p.rung[0], 1) << "inside of its step";
  EXPECT_EQ(p.rung[1], 2) << "wants 0, and a step of rung 2 begins";
  EXPECT_EQ(p.rung[2], 4) << "may always become shorter";
  EXPECT_EQ(p.previous_acceleration[2], p.acceleration[2]);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(p.work[i], work_per_cycle(100, p.rung[i])) << i;
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts[2], 1);
  EXPECT_EQ(counts[4], 1);
}

}  // namespace
}  // namespace grove
