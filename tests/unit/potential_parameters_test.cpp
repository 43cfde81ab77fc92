#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/checkpoint_manifest.hpp"
#include "io/file.hpp"
#include "io/parameters.hpp"

namespace grove {
namespace {

const std::string in_milky_way = R"(
initial_conditions: {model: plummer}
gravity: {softening: 16 pc}
time: {end: 2 Gyr, step: 0.001}
potentials:
  - {type: nfw, mass: 1e12 Msun, scale: 16 kpc, concentration: 15, cutoff: 240 kpc}
  - type: miyamoto-nagai
    mass: 6.8e10 Msun
    scale: 3 kpc
    height: 280 pc
  - {type: uniform, acceleration: [0, 0, -1e-10 m/s^2], position: [1, 500 pc, 0]}
)";

Parameters parse_potentials(const std::vector<std::string>& overrides = {},
                            const std::string& text = in_milky_way) {
  return parse_parameters(text, "run.yml", overrides);
}

/// The text of the InputError; empty if there is none.
std::string fault_of(const std::vector<std::string>& overrides, const std::string& text = in_milky_way) {
  try {
    parse_potentials(overrides, text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PotentialParameters, are_read_in_units_of_the_run) {
  const std::vector<PotentialParameters> read = parse_potentials().potentials;
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].kind, PotentialKind::nfw);
  EXPECT_DOUBLE_EQ(*read[0].mass, 100);
  EXPECT_DOUBLE_EQ(*read[0].cutoff, 240);
  EXPECT_EQ(read[1].kind, PotentialKind::miyamoto_nagai);
  EXPECT_DOUBLE_EQ(*read[1].height, 0.28);
  EXPECT_EQ(read[1].position, (Vec3d{0, 0, 0}));
  EXPECT_DOUBLE_EQ(read[2].position.y, 0.5);
  // 1e-10 m/s^2 = 1e-8 cm/s^2, in units of 1e10 (cm/s)^2 / kpc
  EXPECT_DOUBLE_EQ(read[2].acceleration->z, -1e-18 * 3.085678e21);
}

TEST(PotentialParameters, are_overridden_one_by_one_and_as_a_list) {
  EXPECT_DOUBLE_EQ(*parse_potentials({"potentials[1].mass=5e10 Msun"}).potentials[1].mass, 5);
  EXPECT_TRUE(parse_potentials({"potentials=[]"}).potentials.empty());
  const auto other = parse_potentials({"potentials=[{type: plummer, mass: 1, scale: 2}]"}).potentials;
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(*other[0].scale, 2);
}

TEST(PotentialParameters, faults_name_the_element_and_what_is_right) {
  expect_parts(fault_of({}, in_milky_way + "  - {type: plummer, mass: 1 kpc, scale: 1}\n"),
               {"run.yml:12: potentials[3].mass: ", "unit of mass"});
  expect_parts(fault_of({"potentials[1].hight=1"}),
               {"unknown key 'potentials[1].hight'", "'potentials[1].height'"});
  expect_parts(fault_of({"potentials[0].height=1"}), {"nfw has none", "mass, scale, concentration, cutoff"});
  expect_parts(fault_of({}, in_milky_way + "  - {type: logarithmic, scale: 1}\n"),
               {"run.yml:12: potentials[3].type: logarithmic needs potentials[3].velocity"});
  expect_parts(fault_of({}, in_milky_way + "  - {mass: 1, scale: 1}\n"),
               {"potentials[3].type must be given"});
  expect_parts(fault_of({"potentials[0].type=burkert"}),
               {"'burkert'", "point-mass, plummer, hernquist, nfw"});
  expect_parts(fault_of({"potentials[4].type=plummer"}), {"-P potentials[4].type", "no such element"});
  expect_parts(fault_of({"potentials[2].position=[1, 2]"}), {"three numbers", "unit of length"});
  expect_parts(fault_of({"potentials[2].position=1"}), {"three numbers"});
  expect_parts(fault_of({"potentials[1].mass=-1"}), {"potentials[1].mass", "above 0"});
  expect_parts(fault_of({"potentials={type: plummer}"}), {"expected a list of maps"});
  expect_parts(fault_of({"potentials=[plummer]"}), {"expected a list of maps"});
  expect_parts(fault_of({"potentials=[{}]"}), {"potentials[0].type must be given"});
  expect_parts(fault_of({}, in_milky_way + "  - type: plummer\n    mass: 1\n    mass: 2\n"),
               {"run.yml:14", "run.yml:13", "once"});
}

TEST(PotentialParameters, used_parameters_resolve_to_the_same) {
  const std::string used = used_parameters(parse_potentials());
  const Parameters again = parse_potentials({}, used);
  EXPECT_EQ(used_parameters(again), used);
  EXPECT_EQ(again.potentials.size(), 3u);
  const std::string none = used_parameters(parse_potentials({"potentials=[]"}));
  EXPECT_EQ(used_parameters(parse_potentials({}, none)), none);
}

TEST(Parameters, that_changed_are_told_in_the_units_of_the_user) {
  const auto of = [](const std::string& softening) {
    return parse_parameters("initial_conditions: {model: plummer, scale: 5 pc}\ngravity: {softening: " +
                                softening + "}\ntime: {end: 1 Myr, step: 0.1 Myr}\n",
                            "test", {});
  };
  try {
    require_same(fixed_parameters(of("0.3 pc")), fixed_parameters(of("200 pc")), "test", of("1 pc").shown);
    FAIL() << "another softening";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("gravity.softening was 0.3 pc and is now 200 pc;"),
              std::string::npos)
        << error.what();
  }
}

TEST(Parameters, indented_by_a_tab_are_refused_with_the_reason) {
  try {
    parse_parameters("gravity:\n\tsoftening: 1\n", "test", {});
    FAIL() << "a tab";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("test:2: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("YAML indents with spaces"), std::string::npos) << error.what();
  }
}

TEST(PotentialParameters, belong_to_what_a_run_goes_on_with) {
  const auto before = fixed_parameters(parse_potentials());
  EXPECT_NO_THROW(require_same(before, fixed_parameters(parse_potentials()), "test"));
  for (const char* change : {"potentials[1].mass=5", "potentials=[]", "potentials[2].position=[0, 0, 0]"})
    EXPECT_THROW(require_same(before, fixed_parameters(parse_potentials({change})), "test"), InputError);
  EXPECT_THROW(require_same(fixed_parameters(parse_potentials({"potentials=[]"})), before, "test"),
               InputError);
}

TEST(PotentialParameters, of_the_example_are_a_galaxy) {
  const Parameters stream =
      parse_parameters(read_text(GROVE_SOURCE_DIR "/jobs/examples/stream.yml"), "stream.yml", {});
  ASSERT_EQ(stream.potentials.size(), 3u);
  const auto potentials = external_potentials(stream.potentials, stream.gravity.gravitational_constant);
  const ExternalField field{potentials.data(), 3};
  // 220 km/s within 5 %, as at the Sun's distance.
  EXPECT_NEAR(std::sqrt(-8 * field.at({8, 0, 0}).acceleration.x), 220, 11);
}

TEST(PotentialParameters, mass_of_a_halo_is_that_within_its_concentration) {
  const auto potentials = external_potentials(parse_potentials().potentials, 1);
  // A sphere's pull is that of the mass inside.
  const FieldAt at = field_at(potentials[0], {240 * (1 - 1e-12), 0, 0});
  EXPECT_NEAR(-at.acceleration.x * 240 * 240, 100, 1e-9);
}

}  // namespace
}  // namespace grove
