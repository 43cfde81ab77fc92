// Section `cosmology` of parameter files, and the times that it gives a meaning.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "io/parameters.hpp"

namespace grove {
namespace {

Parameters parsed_universe(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_parameters("initial_conditions: {model: plummer}\ngravity: {softening: 1}\n" + text, "test",
                          overrides);
}

/// The error that the text is refused with; empty: it is taken.
std::string refusal_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parsed_universe(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CosmologyParameters, are_filled_in_from_presets) {
  const Parameters p =
      parsed_universe("cosmology: {preset: planck2018, omega_matter: 0.3}\ntime: {end: z=0, step: 1 Myr}\n");
  ASSERT_TRUE(p.universe);
  EXPECT_EQ(p.universe->omega_matter, 0.3);
  EXPECT_EQ(p.universe->omega_lambda, 0.6889);
  EXPECT_FALSE(p.cosmology.sigma8) << "which a table is scaled to where it is given";
  CosmologyParameters c = p.cosmology;
  complete_spectrum(c);
  EXPECT_EQ(c.sigma8, 0.8102);
  // 100 h km/s/Mpc in km/s/kpc, the unit of galactic units, whose kpc has 7 digits.
  EXPECT_NEAR(p.universe->hubble, 0.06766, 1e-7);
  EXPECT_FALSE(parsed_universe("time: {end: 1, step: 1}\n").universe);
}

TEST(CosmologyParameters, give_redshifts_and_scale_factors_a_time) {
  const Parameters p = parsed_universe(
      "cosmology: {preset: eds}\ntime: {begin: z=3, end: a=1, step_ln_a: 0.01}\noutput: {times: [z = 1, 9 "
      "Gyr]}\n");
  const double age = 2 / (3 * p.universe->hubble);
  EXPECT_NEAR(*p.time.begin / age, 0.125, 1e-13);
  EXPECT_NEAR(p.time.end / age, 1, 1e-13);
  EXPECT_EQ(p.time.step_ln_a, 0.01);
  ASSERT_EQ(p.output.times.size(), 2u);
  EXPECT_NEAR(p.output.times[0] / age, std::pow(2, -1.5), 1e-13);
  EXPECT_EQ(p.output.times[1], Units::galactic().parse("9 Gyr", dimension::time));
}

TEST(CosmologyParameters, choose_steps_for_expanding_space) {
  const std::string still = "time: {end: 1, step: 1}\n",
                    universe = "cosmology: {preset: eds}\ntime: {begin: z=3, end: z=0, step: 1 Myr}\n";
  for (const std::string accuracy : {"fast", "standard", "high"}) {
    const Parameters expands = parsed_universe(universe + "accuracy: " + accuracy);
    const Parameters stands = parsed_universe(still + "accuracy: " + accuracy);
    EXPECT_GT(expands.time.eta, stands.time.eta);
    EXPECT_EQ(expands.gravity.delta, stands.gravity.delta);
    EXPECT_EQ(parse_parameters(used_parameters(expands), "again", {}).time.eta, expands.time.eta);
  }
  EXPECT_EQ(parsed_universe(universe, {"time.eta=0.05"}).time.eta, 0.05);
}

TEST(CosmologyParameters, high_accuracy_asks_more_of_forces_in_a_periodic_box) {
  const std::string high = "accuracy: high\ntime: {end: 1, step: 1}\n";
  const std::string periodic = high + "box: {periodic: true, size: 1000}\n";
  EXPECT_EQ(parsed_universe(high).gravity.delta, 1e-4);
  EXPECT_EQ(parsed_universe(periodic).gravity.delta, 4e-5);
  EXPECT_EQ(parsed_universe(periodic, {"gravity.delta=1e-4"}).gravity.delta, 1e-4);
}

TEST(CosmologyParameters, are_used_as_they_are_written_out) {
  const Parameters first = parsed_universe(
      "cosmology: {h: 0.7, omega_matter: 0.3, omega_lambda: 0.6, w0: -0.9}\ntime: {begin: z=49, end: z=0, "
      "step_ln_a: 0.01}\n");
  const Parameters again = parse_parameters(used_parameters(first), "again", {});
  EXPECT_EQ(again.universe, first.universe);
  EXPECT_EQ(again.time.begin, first.time.begin);
  EXPECT_EQ(again.time.end, first.time.end);
  EXPECT_EQ(again.time.step_ln_a, first.time.step_ln_a);
}

TEST(CosmologyParameters, that_say_too_little_or_too_much_are_refused) {
  const std::string time = "time: {begin: z=9, end: z=0, step: 1 Myr}\n";
  EXPECT_NE(refusal_of("cosmology: {h: 0.7, omega_matter: 0.3}\n" + time).find("omega_lambda"),
            std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: wmap}\n" + time).find("planck2018"), std::string::npos);
  EXPECT_NE(refusal_of(time).find("section cosmology"), std::string::npos);
  EXPECT_NE(refusal_of("time: {end: 1, step_ln_a: 0.1}\n").find("space is static"), std::string::npos);
  EXPECT_NE(refusal_of("time: {end: 1, step: 0.1}\noutput: {power: true}\n").find("give box.periodic"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("time: {end: 1, step: 0.1}\n", {"gravity.max_physical_softening=1"}).find("space is static"),
      std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: eds}\ntime: {end: z=0}\n").find("time.step must be given"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("cosmology: {preset: eds}\ntime: {end: z=0, step: 1, step_ln_a: 1}\n").find("contradicts"),
      std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: eds}\ntime: {end: z=-1, step: 1}\n").find("out of range"),
            std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: eds}\ntime: {end: z=x, step: 1}\n").find("time.end"),
            std::string::npos);
  EXPECT_NE(refusal_of("units: {system: none}\ncosmology: {preset: eds}\ntime: {end: z=0, step: 1}\n")
                .find("units.system"),
            std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: planck2018, omega_lambda: 3}\n" + time).find("does not expand"),
            std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: planck2018, h: 70}\n" + time).find("70 km/s/Mpc are h = 0.7"),
            std::string::npos);
  EXPECT_NE(refusal_of("cosmology: {preset: eds}\n" + time + "output: {times: [z=0, z=1]}\n")
                .find("so redshifts decrease"),
            std::string::npos);
}

TEST(BoxParameters, make_forces_and_cuts_periodic) {
  const std::string time = "time: {end: 1, step: 1}\n";
  EXPECT_TRUE(parsed_universe(time).gravity.images.are_open());
  const Parameters p = parsed_universe("box: {periodic: true, size: 2 Mpc}\n" + time);
  EXPECT_DOUBLE_EQ(p.gravity.images.edge, 2000);
  EXPECT_DOUBLE_EQ(p.decomposition.period, 2000);
  EXPECT_DOUBLE_EQ(p.output.view.images.edge, 2000);
  const Parameters again = parse_parameters(used_parameters(p), "again", {});
  EXPECT_EQ(again.gravity.images.edge, p.gravity.images.edge);
  const Parameters model = parse_parameters(
      "initial_conditions: {model: cosmological-box, sites: 8, box_size: 3 Mpc, redshift: 9}\n"
      "gravity: {softening: 1}\ncosmology: {preset: eds}\nbox: {periodic: true}\n"
      "time: {begin: z=9, end: z=0, step_ln_a: 0.1}\n",
      "test", {});
  EXPECT_DOUBLE_EQ(model.gravity.images.edge, 3000);
}

TEST(BoxParameters, take_octupoles_where_nothing_speaks_against_it) {
  const std::string box = "box: {periodic: true, size: 2 Mpc}\ntime: {end: 1, step: 1}\n";
  EXPECT_EQ(parsed_universe(box).gravity.order, Order::octupole);
  for (const char* const other : {"kernel=plummer", "criterion=multipole", "walk=rope", "order=quadrupole"})
    EXPECT_EQ(parsed_universe(box, {std::string("gravity.") + other}).gravity.order, Order::quadrupole)
        << other;
}

TEST(BoxParameters, must_be_there_for_a_cosmological_box) {
  try {
    parse_parameters(
        "initial_conditions: {model: cosmological-box, sites: 8, box_size: 3 Mpc, redshift: 9}\n"
        "gravity: {softening: 1}\ncosmology: {preset: eds}\ntime: {begin: z=9, end: z=0, step_ln_a: 0.1}\n",
        "test", {});
    FAIL() << "not refused";
  } catch (const InputError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("box: {periodic: true}"), std::string::npos) << said;
    EXPECT_NE(said.find("cosmological-sphere"), std::string::npos) << said;
  }
}

TEST(BoxParameters, are_those_of_a_model_that_fills_its_box) {
  const std::string text =
      "units: {system: none}\ninitial_conditions: {model: sod, scale: 1.5}\ngravity: {softening: 0.05}\n"
      "time: {end: 1, step: 1}\nbox: {periodic: true}\n";
  EXPECT_EQ(parse_parameters(text, "test", {}).box.size, 1.5);
  for (const char* size : {"1", "0.1", "2"}) try {
      parse_parameters(text, "test", {std::string("box.size=") + size});
      ADD_FAILURE() << size;
    } catch (const InputError& error) {
      const std::string said = error.what();
      EXPECT_TRUE(said.starts_with("-P box.size")) << said;
      EXPECT_NE(said.find("the cube that the model sod fills, initial_conditions.scale = 1.5"),
                std::string::npos)
          << said;
    }
}

TEST(BoxParameters, that_cannot_be_are_refused) {
  const auto refused_for = [](const std::string& text, const std::string& part) {
    const std::string error = refusal_of(text + "\ntime: {end: 1, step: 1}\n");
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
  };
  refused_for("box: {periodic: true}", "needs box.size");
  refused_for("box: {size: 5}", "give box.periodic: true");
  refused_for("box: {periodic: true, size: 100}\noutput: {render: {width: 801}}", "8 times the edge");
  refused_for("box: {periodic: true, size: 0}", "box.size");
  refused_for("box: {periodic: true, size: 10}", "less than 16 times");
  refused_for("box: {periodic: true, size: 100}\npotentials: [{type: point-mass, mass: 1}]", "open space");
  refused_for("box: {periodic: true, size: 100}\ncosmology: {preset: eds, centre: [1, 2, 3]}", "spheres");
}

}  // namespace
}  // namespace grove
