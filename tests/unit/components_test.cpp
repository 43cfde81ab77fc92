// Section `initial_conditions.components` of parameter files, and files that are placed by options.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/parameters.hpp"
#include "support/parameter_texts.hpp"

namespace grove {
namespace {

using testing::message;
using testing::parse;

const std::string composed = R"(
initial_conditions:
  components:
    - model: nfw
      mass: 1e12 Msun
      n: 1000
    - file: sat.hdf5
      position: [50 kpc, 0, -3]
      velocity: 0, 120 km/s, 0
      inclination: 30
      node: 60
      type: {1: 4, 2: 5}
      id_offset: 5000
    - {model: plummer, type: 3}
gravity: {softening: 0.1}
time: {end: 1, step: 0.01}
)";

TEST(Parameters, components_have_their_own_sources_and_places) {
  const auto& components = parse(composed).initial_conditions.components;
  ASSERT_EQ(components.size(), 3u);
  EXPECT_EQ(components[0].model.model, "nfw");
  EXPECT_DOUBLE_EQ(components[0].model.mass, 100);
  EXPECT_EQ(components[0].model.gravitational_constant, Units::galactic().gravitational_constant);
  EXPECT_EQ(components[0].placement.type, (TypeMap{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(components[1].file, "sat.hdf5");
  EXPECT_DOUBLE_EQ(components[1].placement.position.x, 50);
  EXPECT_EQ(components[1].placement.position.z, -3);
  EXPECT_EQ(components[1].placement.velocity, (Vec3d{0, 120, 0}));
  EXPECT_EQ(components[1].placement.inclination, 30);
  EXPECT_EQ(components[1].placement.node, 60);
  EXPECT_EQ(components[1].placement.type, (TypeMap{0, 4, 5, 3, 4, 5}));
  EXPECT_EQ(components[1].placement.id_offset, 5000u);
  EXPECT_EQ(components[2].placement.type, (TypeMap{3, 3, 3, 3, 3, 3}));
  EXPECT_FALSE(components[2].placement.id_offset);
  EXPECT_EQ(components[0].model.seed, 1u);
  EXPECT_EQ(components[2].model.seed, 3u) << "the same model twice is not the same particles twice";
}

TEST(Parameters, components_can_be_overridden_one_by_one) {
  const Parameters p = parse(composed, {"initial_conditions.components[2].n=77", "initial_conditions.seed=10",
                                        "initial_conditions.components[0].seed=4"});
  EXPECT_EQ(p.initial_conditions.components[2].model.particles, 77);
  EXPECT_EQ(p.initial_conditions.components[2].model.seed, 12u);
  EXPECT_EQ(p.initial_conditions.components[0].model.seed, 4u);
  const Parameters one = parse(composed, {"initial_conditions.components=[{model: plummer}]"});
  EXPECT_EQ(one.initial_conditions.components.size(), 1u);
}

TEST(Parameters, faults_of_components_name_them) {
  const std::string list = "initial_conditions.components";
  EXPECT_MESSAGE(message(composed, {list + "[0].mass=3 kpc"}), "components[0].mass", "Msun");
  EXPECT_MESSAGE(message(composed, {list + "=[{model: nfw}, {model: nfw, mass: -1}]"}),
                 list + "[1].mass: -1 is out of range");
  EXPECT_MESSAGE(message(composed, {list + "[0].mas=3"}), "did you mean '" + list + "[0].mass'");
  EXPECT_MESSAGE(message(composed, {list + "[3].mass=3"}), "no such element", "has 3, numbered from 0");
  EXPECT_MESSAGE(message(composed, {list + "[1].position=[1, 2]"}), "[1].position",
                 "2 given; expected three");
  EXPECT_MESSAGE(message(composed, {list + "[1].type=6"}), "[1].type", "'6' is not a particle type");
  EXPECT_MESSAGE(message(composed, {list + "[1].type={1:4}"}), "space after the colon");
  EXPECT_MESSAGE(message(composed, {list + "[1].scale=2"}), "components[1].scale",
                 "contradicts " + list + "[1].file (run.yml:7)");
  EXPECT_MESSAGE(message(composed, {list + "[1].id_offset=-1"}), "[1].id_offset", "whole number");
  EXPECT_MESSAGE(message(composed, {list + "=[{n: 3}]"}), list + "[0]", "give file (a snapshot) or model");
  EXPECT_MESSAGE(message(composed, {list + "=[]"}), list, "is empty");
  EXPECT_MESSAGE(message(composed, {list + "=3"}), list, "list of maps");
  EXPECT_MESSAGE(message(composed, {list + "=[plummer]"}), list, "list of maps");
  EXPECT_MESSAGE(message(composed, {list + "=[{model: nfw, mass: 1, mass: 2}]"}), list + "[0].mass", "once");
  EXPECT_MESSAGE(message(composed, {"initial_conditions.model=nfw"}), "initial_conditions.model",
                 "contradicts " + list);
}

TEST(Parameters, used_components_resolve_to_the_same) {
  const std::string used = used_parameters(parse(composed));
  EXPECT_EQ(used_parameters(parse(used)), used);
  const auto& again = parse(used).initial_conditions.components;
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1].placement.type, (TypeMap{0, 4, 5, 3, 4, 5}));
  EXPECT_EQ(again[1].placement.velocity, (Vec3d{0, 120, 0}));
  EXPECT_EQ(again[2].model.seed, 3u);
  EXPECT_EQ(used.find("concentration", used.find("sat.hdf5")),
            used.find("concentration", used.find("plummer")))
      << "a file has no parameters of a model: " << used;
}

TEST(PlacedFiles, are_put_where_the_settings_say) {
  const auto parts = placed_files({"host", "sat"},
                                  {"1.position=50 kpc, 0, 0", "1.velocity=[0, 0.1, 0]",
                                   "0.node=0.5235987755982988 rad", "0.inclination=60 deg", "1.type=4"},
                                  Units::galactic());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].file, "host");
  EXPECT_DOUBLE_EQ(parts[0].placement.node, 30);
  EXPECT_EQ(parts[0].placement.inclination, 60);
  EXPECT_DOUBLE_EQ(parts[1].placement.position.x, 50);
  EXPECT_EQ(parts[1].placement.velocity.y, 0.1);
  EXPECT_EQ(parts[1].placement.type[1], 4);
  const auto fault = [](const std::string& setting) -> std::string {
    try {
      placed_files({"host", "sat"}, {setting}, Units::galactic());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_MESSAGE(fault("2.node=1"), "-C 2.node=1", "no such element", "has 2, numbered from 0");
  EXPECT_MESSAGE(fault("1.nod=1"), "-C 1.nod=1", "did you mean", "node");
  EXPECT_MESSAGE(fault("1.mass=1"), "of a model, not of a file");
  EXPECT_MESSAGE(fault("1.node=1 kpc"), "-C 1.node=1 kpc", "deg or rad");
  EXPECT_MESSAGE(fault("1.position=1, 2"), "three numbers");
  EXPECT_MESSAGE(fault("position=1, 2, 3"), "a file's place");
}

}  // namespace
}  // namespace grove
