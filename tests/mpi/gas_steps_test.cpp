// Steps that gas makes too short are told as such.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/errors.hpp"
#include "run/simulation.hpp"
#include "support/gas_runs.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

class GasSteps : public ::testing::Test {
 protected:
  /// The fault that a run finds before its first step, if its gas is changed so; empty: none.
  template <class Change>
  std::string fault(double softening, const Change& change) const {
    Parameters p = testing::collapse("end: 1, step: 0.1");
    p.gravity.softening.fill(softening);
    Particles all = testing::of_model(p);
    change(all);
    Simulation run(comm_, p, testing::share_of(comm_, all), 0);
    return fault_of_steps(run.summary(), p);
  }
  /// The error of a run whose gas is changed so, from a particle's number on a rank, before its first forces.
  template <class Change>
  std::string failure(const Change& change) const {
    try {
      fault(0.02, [&](Particles& all) {
        for (std::size_t i = 0; i < all.size(); ++i) change(all, i);
      });
    } catch (const Agreed<std::runtime_error>& error) {
      return error.what();
    }
    return {};
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(GasSteps, that_are_short_in_hot_gas_name_its_sound_speed) {
  EXPECT_EQ(fault(0.02, [](Particles&) {}), "");
  const std::string text = fault(
      0.02, [](Particles& all) { std::fill(all.internal_energy.begin(), all.internal_energy.end(), 1e8); });
  // sqrt(5/3 2/3 1e8) = 10541
  expect_part(text, "The likely cause: gas, by Courant's condition: for particle ");
  expect_part(text, "gas.courant (0.15) times its support radius over its signal speed is ");
  expect_part(
      text,
      "its sound speed 1.05e+04, of an internal energy of 1e+08, where the largest of all gas is 1e+08.");
  EXPECT_EQ(text.find("softening"), std::string::npos) << text;
}

TEST_F(GasSteps, that_are_short_by_gravity_name_the_softening) {
  // Accelerations are about 1, so that steps of 0.15 sqrt(softening / |a|) are some 1e-6, and those wanted
  // 1e-4.
  const std::string text = fault(1e-10, [](Particles&) {});
  expect_part(text, "give a larger gravity.softening");
  EXPECT_EQ(text.find("Courant"), std::string::npos) << text;
}

// Forces in single precision end at 3e38.
TEST_F(GasSteps, that_no_number_holds_name_the_hottest_particle) {
  const Particles all = testing::of_model(testing::collapse("end: 1, step: 0.1"));
  const ParticleId hottest = all.id[all.size() / 2];
  for (const double energy : {1e40, 1e300}) {
    const std::string said = failure([&](Particles& own, std::size_t i) {
      if (own.id[i] == hottest) own.internal_energy[i] = energy;
    });
    expect_part(said, "the first one to look at is particle id ");
    expect_part(said, fmt::format("; the likely cause: particle id {} at ", hottest));
    expect_part(said,
                fmt::format("an internal energy of {:.3g}, a sound speed of {:.3g}: give smaller internal "
                            "energies",
                            energy, std::sqrt(5. / 3 * 2 / 3 * energy)));
    EXPECT_EQ(said.find("softening"), std::string::npos) << said;
  }
}

TEST_F(GasSteps, that_are_lost_by_an_energy_say_that_it_is_not_a_number) {
  const Particles all = testing::of_model(testing::collapse("end: 1, step: 0.1"));
  const ParticleId lost = all.id[all.size() / 3], hot = all.id[all.size() / 2];
  const std::string said = failure([&](Particles& own, std::size_t i) {
    if (own.id[i] == lost) own.internal_energy[i] = std::nan("");
    if (own.id[i] == hot) own.internal_energy[i] = 1e300;
  });
  expect_part(said, fmt::format("; the likely cause: the internal energy of particle id {} at ", lost));
  expect_part(said, " is not a number: ");
  EXPECT_EQ(said.find("smaller internal energies"), std::string::npos) << said;
}

TEST_F(GasSteps, that_are_lost_otherwise_name_the_particle_and_no_energy) {
  const Particles all = testing::of_model(testing::collapse("end: 1, step: 0.1"));
  const ParticleId lost = all.id[all.size() / 3];
  const std::string said = failure([&](Particles& own, std::size_t i) {
    if (own.id[i] == lost) own.velocity[i].y = std::nan("");
  });
  expect_part(said, fmt::format("the first one to look at is particle id {} at ", lost));
  expect_part(said, "velocity (");
  EXPECT_EQ(said.find("energy"), std::string::npos) << said;
  EXPECT_EQ(said.find("energies"), std::string::npos) << said;
}

// A kernel of 100 neighbours has no width where 150 particles are in one place.
TEST_F(GasSteps, that_end_a_run_name_the_particles_that_lie_in_one_place) {
  const Parameters p = testing::collapse("end: 1, step: 0.1");
  Particles all = testing::of_model(p);
  for (std::size_t i = 1; i < 150; ++i) all.position[i] = all.position[0];
  std::string said;
  try {
    Simulation run(comm_, p, testing::share_of(comm_, all), 0);
    run.step();
  } catch (const Agreed<InputError>& error) {
    said = error.what();
  }
  expect_part(
      said,
      "want a time step below 2^-39 of the longest, 0.1: this is because of gas, by Courant's condition");
  expect_part(said, "Its support radius is ");
  expect_part(said, "if more particles than a kernel has neighbours lie in one");
}

}  // namespace
}  // namespace grove
