#include "run/log/verdict.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace grove {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Parameters parameters() {
  Parameters p;
  p.gravity.delta = 1e-3;
  p.time.step = 0.5;
  p.time.eta = 0.2;
  return p;
}

/// All of the spin of 2 is that of a type.
constexpr Turning turning{.bound = 100, .coherent = 2};

/// With this error of the energy at most, and this 99th percentile of the errors of forces.
Conservation kept(double energy, double p99) {
  Conservation kept;
  kept.first_spin = {0, 0, 2};
  kept.largest_energy = energy;
  kept.audits = 1;
  kept.p99 = p99;
  return kept;
}

TEST(Verdict, is_silent_where_all_is_kept) {
  EXPECT_TRUE(verdict_on(kept(0.009, 0.004), turning, 1000, parameters()).warnings.empty());
}

TEST(Verdict, of_test_particles_claims_no_energy) {
  const Verdict verdict = verdict_on({}, {}, 1000, parameters());
  EXPECT_TRUE(holds(verdict.lines.at(0), "no particle has mass")) << verdict.lines.at(0);
  EXPECT_FALSE(holds(verdict.lines.at(0), "dE/E")) << verdict.lines.at(0);
}

// A sphere whose centre of mass is not about where space expands gains momentum, rightly so.
TEST(Verdict, does_not_judge_the_momentum_of_a_sphere_in_expanding_space) {
  const auto tells_momentum = [](const Parameters& p) {
    const Verdict verdict = verdict_on(kept(0.001, 0.001), turning, 1000, p);
    return std::any_of(verdict.lines.begin(), verdict.lines.end(),
                       [](const std::string& line) { return line.starts_with("momentum"); });
  };
  Parameters expanding = parameters();
  expanding.universe = Cosmology{};
  EXPECT_TRUE(tells_momentum(parameters()));
  EXPECT_FALSE(tells_momentum(expanding));
  expanding.box.periodic = true;
  EXPECT_TRUE(tells_momentum(expanding));
}

TEST(Verdict, blames_steps_where_forces_are_good) {
  const Verdict verdict = verdict_on(kept(0.03, 0.001), turning, 1000, parameters());
  ASSERT_EQ(verdict.warnings.size(), 1u);
  EXPECT_TRUE(holds(verdict.warnings[0], "the energy changed by 3 %")) << verdict.warnings[0];
  EXPECT_TRUE(holds(verdict.warnings[0], "time.eta (now 0.2)")) << verdict.warnings[0];
  EXPECT_FALSE(holds(verdict.warnings[0], "gravity.delta")) << verdict.warnings[0];
  Parameters shared = parameters();
  shared.time.steps = StepKind::shared;
  const std::string text = verdict_on(kept(0.03, 0.001), turning, 1000, shared).warnings.at(0);
  EXPECT_FALSE(holds(text, "time.eta")) << text;
  EXPECT_TRUE(holds(text, "time.step")) << text;
}

TEST(Verdict, names_the_step_that_is_in_use) {
  Parameters p = parameters();
  p.time.step_ln_a = 0.3;
  const std::string text = verdict_on(kept(0.03, 0.001), turning, 1000, p).warnings.at(0);
  EXPECT_TRUE(holds(text, "time.step_ln_a (now 0.3)")) << text;
  EXPECT_FALSE(holds(text, "time.step (")) << text;
}

TEST(Verdict, does_not_judge_the_energy_of_isothermal_gas) {
  Parameters p = parameters();
  p.gas.equation_of_state = EquationOfState::isothermal;
  const Verdict verdict = verdict_on(kept(1.59, 0.001), turning, 1000, p, true),
                without_gas = verdict_on(kept(1.59, 0.001), turning, 1000, p, false);
  EXPECT_TRUE(verdict.warnings.empty());
  EXPECT_TRUE(holds(verdict.lines.at(0), "isothermal")) << verdict.lines.at(0);
  EXPECT_EQ(without_gas.warnings.size(), 1u);
  EXPECT_FALSE(holds(without_gas.lines.at(0), "isothermal")) << without_gas.lines.at(0);
}

TEST(Verdict, blames_forces_where_the_audit_does) {
  const std::string text = verdict_on(kept(0.03, 0.006), turning, 1000, parameters()).warnings.at(0);
  EXPECT_TRUE(holds(text, "gravity.delta (now 0.001)")) << text;
  // 0.4 % is below 0.5 %, but more than forces of this delta have.
  EXPECT_TRUE(
      holds(verdict_on(kept(0.03, 0.004), turning, 1000, parameters()).warnings.at(0), "gravity.delta"));
  Parameters direct = parameters();
  direct.gravity.direct_below = 2000;
  EXPECT_TRUE(holds(verdict_on(kept(0.03, 0.006), turning, 1000, direct).warnings.at(0), "time.eta"));
}

TEST(Verdict, names_accuracy_where_that_is_a_knob) {
  const auto text = [](double p99, const Parameters& p) {
    return verdict_on(kept(4.7, p99), turning, 1000, p).warnings.at(0);
  };
  Parameters standard = parameters();
  standard.gravity.delta = accuracy_of(Accuracy::standard, false).delta;
  standard.time.eta = accuracy_of(Accuracy::standard, false).eta;
  for (const double p99 : {0.001, 0.006}) {
    EXPECT_TRUE(holds(text(p99, standard), "accuracy: high")) << text(p99, standard);
    EXPECT_FALSE(holds(text(p99, parameters()), "accuracy: high")) << "delta and eta are given";
    Parameters high = standard;
    high.accuracy = Accuracy::high;
    high.gravity.delta = accuracy_of(Accuracy::high, false).delta;
    high.time.eta = accuracy_of(Accuracy::high, false).eta;
    EXPECT_FALSE(holds(text(p99, high), "accuracy: high")) << "so it is";
  }
  standard.time.steps = StepKind::shared;
  EXPECT_FALSE(holds(text(0.001, standard), "accuracy: high")) << "which has no eta";
  standard.gravity.direct_below = 2000;
  EXPECT_TRUE(holds(text(0.001, standard), "direct sums")) << text(0.001, standard);
  EXPECT_TRUE(holds(text(0.001, standard), "changed by 470 %,")) << text(0.001, standard);
}

TEST(Verdict, judges_angular_momentum_by_itself_or_by_what_cancels) {
  Conservation state = kept(0, 0.001);
  state.largest_spin = 0.03;
  const Verdict turns = verdict_on(state, turning, 1000, parameters());
  EXPECT_TRUE(turns.has_spin);
  EXPECT_DOUBLE_EQ(turns.spin_scale, 2);
  EXPECT_TRUE(holds(turns.warnings.at(0), "the angular momentum changed by 1.5 %"));
  EXPECT_TRUE(holds(turns.warnings.at(0), "gravity.delta")) << "errors of forces act as a torque";
  // That of two disks, which turn against each other, or of random directions.
  for (const double coherent : {5, 0}) {
    const Verdict none = verdict_on(state, {.bound = 100, .coherent = coherent}, 1000, parameters());
    EXPECT_FALSE(none.has_spin);
    EXPECT_DOUBLE_EQ(none.spin_scale, 100);
    EXPECT_TRUE(none.warnings.empty());
  }
  // The potentials turn it.
  Parameters outer = parameters();
  outer.potentials.emplace_back();
  EXPECT_TRUE(verdict_on(state, turning, 1000, outer).warnings.empty());
}

TEST(Conservation, keeps_the_largest_changes_and_the_worst_audit) {
  Totals totals;
  totals.mass = 2;
  totals.absolute_momentum = 10;
  totals.angular_momentum = {0, 0, 4};
  Conservation kept;
  kept.begin(totals);
  totals.angular_momentum = {0, 3, 4};
  kept.add(totals, -0.02, 0.02);
  totals.angular_momentum = {0, 0, 5};
  totals.momentum = {1, 0, 0};
  kept.add(totals, 0.01, 0.02);
  EXPECT_EQ(kept.largest_energy, 0.02);
  EXPECT_EQ(kept.energy, 0.01);
  EXPECT_EQ(kept.largest_spin, 3);
  EXPECT_EQ(kept.spin, 1);
  EXPECT_EQ(kept.momentum, 0.1);
  kept.add(AuditResult{.median = 1e-4, .p99 = 2e-3, .max = 1e-2, .sample = 10});
  kept.add(AuditResult{.median = 2e-4, .p99 = 1e-3, .max = 1e-3, .sample = 10});
  EXPECT_EQ(kept.audits, 2);
  EXPECT_EQ(kept.median, 2e-4);
  EXPECT_EQ(kept.p99, 2e-3);
}

// A whole that moves, and is far away, has the spin of one at rest at the origin.
TEST(Conservation, spin_is_about_the_centre_of_mass) {
  const double offset = 1000, speed = 7;
  Totals totals;
  totals = totals + Totals::of_particle(1, {offset + 1, 0, 0}, {speed, 3, 0}, 0, 0);
  totals = totals + Totals::of_particle(1, {offset - 1, 0, 0}, {speed, -3, 0}, 0, 0);
  EXPECT_EQ(spin_of(totals), (Vec3d{0, 0, 6}));
}

}  // namespace
}  // namespace grove
