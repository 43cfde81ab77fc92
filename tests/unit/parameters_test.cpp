#include "io/parameters.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "particles/field.hpp"
#include "support/parameter_texts.hpp"

namespace grove {
namespace {

const std::string minimal = R"(
initial_conditions:
  model: plummer
gravity:
  softening: 16 pc
time:
  end: 2 Gyr
  step: 0.001
)";

using testing::message;
using testing::parse;

TEST(Parameters, dimensional_values_come_in_units_of_the_run) {
  const Parameters p = parse(minimal);
  EXPECT_DOUBLE_EQ(p.gravity.softening[3], 0.016);
  EXPECT_DOUBLE_EQ(p.time.end, 2 * 3.15576e16 / (3.085678e21 / 1e5));
  EXPECT_EQ(p.gravity.gravitational_constant, Units::galactic().gravitational_constant);
  EXPECT_EQ(p.initial_conditions.model.model, "plummer");
}

TEST(Parameters, custom_units_are_used_by_values_before_them_too) {
  const Parameters p = parse(minimal, {"units.length=1 pc", "units.mass=1 Msun", "units.velocity=1 km/s"});
  EXPECT_DOUBLE_EQ(p.gravity.softening[0], 16);
  EXPECT_EQ(p.units, Units::of(3.085678e18, 1.989e33, 1e5));
}

TEST(Parameters, units_none_has_unit_newton_constant_and_refuses_physical_units) {
  const std::vector<std::string> none{"units.system=none", "gravity.softening=0.01", "time.end=2"};
  EXPECT_EQ(parse(minimal, none).gravity.gravitational_constant, 1);
  EXPECT_MESSAGE(message(minimal, {"units.system=none"}), "run.yml:5", "gravity.softening", "bare number");
}

TEST(Parameters, values_are_shown_in_the_units_that_were_written) {
  using Names = UnitNames;
  // The softening's pc say nothing of the sizes that are shown.
  EXPECT_EQ(parse(minimal).shown.names(), (Names{"kpc", "Msun", "km/s", "Gyr"}));
  EXPECT_EQ(parse(minimal, {"time.end=300 Myr", "initial_conditions.scale=5 pc"}).shown.names(),
            (Names{"pc", "Msun", "km/s", "Myr"}));
  EXPECT_EQ(parse(minimal, {"time.end=2", "time.step=100 kyr", "checkpoint.every=2 h"}).shown.names().time,
            "kyr");
  EXPECT_EQ(parse(minimal, {"units.length=50 pc", "units.mass=1 Msun", "units.velocity=1 m/s"}).shown.names(),
            (Names{"pc", "Msun", "m/s", "Gyr"}));
  const std::vector<std::string> in_potential{
      "potentials=[{type: hernquist, mass: 1e45 g, scale: 1 Mpc}, {type: plummer, mass: 1, scale: 1 pc}]"};
  EXPECT_EQ(parse(minimal, in_potential).shown.names(), (Names{"Mpc", "g", "km/s", "Gyr"}));
  const Parameters none = parse(minimal, {"units.system=none", "gravity.softening=0.01", "time.end=2"});
  EXPECT_EQ(none.shown.names(), Names{});
  EXPECT_EQ(none.shown.text(none.time.end, dimension::time), "2");
  const Parameters p = parse(minimal);
  EXPECT_EQ(p.shown.text(p.time.end, dimension::time), "2 Gyr");
}

TEST(Parameters, overrides_win_over_the_file) {
  EXPECT_EQ(parse(minimal, {"time.step=0.5", "time.step=0.25"}).time.step, 0.25);
}

TEST(Parameters, lists_maps_masks_and_words_are_read) {
  const Parameters p = parse(R"(
initial_conditions: {file: galaxy.hdf5, tracer: [3, 4]}
gravity: {softening: {1: 0.5, 2: 16 pc}, criterion: multipole, order: monopole}
time: {end: 1, step: 0.5}
output: {times: [0, 0.5, 1 Gyr], types: 1, fields: [Coordinates, Potential], render: off}
decomposition: {rule: halves, leaves: 16}
)");
  EXPECT_EQ(p.initial_conditions.tracer, 1 << 3 | 1 << 4);
  EXPECT_EQ(p.gravity.softening, (std::array<double, 6>{0, 0.5, 0.016, 0, 0, 0}));
  EXPECT_EQ(p.softened, 1 << 1 | 1 << 2);
  EXPECT_EQ(parse(minimal, {}).softened, all_types);
  EXPECT_EQ(parse(used_parameters(p)).softened, p.softened) << "a type that was left out stays so";
  EXPECT_EQ(p.gravity.criterion, Criterion::multipole);
  EXPECT_EQ(p.gravity.order, Order::monopole);
  EXPECT_EQ(p.output.times.size(), 3u);
  EXPECT_EQ(p.output.types, 1 << 1);
  EXPECT_EQ(p.output.fields, (std::vector<std::string>{"Coordinates", "Potential"}));
  EXPECT_FALSE(p.output.render);
  EXPECT_EQ(p.decomposition.rule, CutRule::halves);
  EXPECT_EQ(p.decomposition.leaves, 16);
  EXPECT_EQ(p.tuning.cost, TuningCost::counted) << "unless told otherwise";
  EXPECT_EQ(parse(minimal, {"tuning.cost=measured"}).tuning.cost, TuningCost::measured);
}

TEST(Parameters, pictures_are_a_word_or_a_map) {
  const auto pictures = [](const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse(minimal + "output:\n  render: " + text + "\n", overrides).output;
  };
  EXPECT_FALSE(pictures("false").render);
  EXPECT_TRUE(pictures("true").render);
  const OutputParameters output = pictures(
      "{width: 20 kpc, axes: [z, x], types: 2, centre: densest, pixels: 300, limits: [1 Msun/pc^2, 1]}");
  EXPECT_TRUE(output.render) << "a map";
  EXPECT_EQ(*output.view.width, 20);
  EXPECT_EQ(output.view.axes, (std::vector<int>{2, 0}));
  EXPECT_EQ(output.view.types, 1 << 2);
  EXPECT_EQ(output.view.centre_on, CentreOn::densest);
  EXPECT_EQ(output.view.pixels, 300);
  EXPECT_NEAR(output.view.limits[0], 1e-4, 1e-12) << "1e6 Msun/kpc^2";
  EXPECT_EQ(pictures("{centre: [1, 2, 3 pc]}").view.centre, (Vec3d{1, 2, 0.003}));
  // A later value wins over an earlier one that it contradicts.
  EXPECT_FALSE(pictures("{width: 1}", {"output.render=false"}).render);
  EXPECT_TRUE(pictures("false", {"output.render={width: 2}"}).render);
  EXPECT_EQ(*pictures("{width: 1, axes: x}", {"output.render.width=2"}).view.width, 2);
  EXPECT_EQ(pictures("{width: 1, axes: x}", {"output.render.width=2"}).view.axes, (std::vector<int>{0}));
}

TEST(Parameters, faults_of_pictures_are_named) {
  const auto told = [](const std::string& text) {
    return message(minimal + "output:\n  render: " + text + "\n");
  };
  EXPECT_MESSAGE(told("{widht: 1}"), "run.yml:10", "'output.render.widht'", "'output.render.width'");
  EXPECT_MESSAGE(told("{axes: [z, z]}"), "output.render.axes", "twice");
  EXPECT_MESSAGE(told("{axes: []}"), "list of x, y, z");
  EXPECT_MESSAGE(told("{centre: core}"), "'core'", "middle, mass, densest or [x, y, z]");
  EXPECT_MESSAGE(told("{centre: [1, 2]}"), "[x, y, z]");
  EXPECT_MESSAGE(told("{limits: [1, 1]}"), "output.render.limits", "[low, high]");
  EXPECT_MESSAGE(told("{limits: [0, 1]}"), "above 0");
  EXPECT_MESSAGE(told("{pixels: 3}"), "at least 16");
}

TEST(Parameters, catalogues_of_halos_need_a_length) {
  const auto told = [](const std::string& text) { return message(minimal + "output:\n" + text); };
  EXPECT_MESSAGE(told("  fof: true\n"), "run.yml:10", "output.fof", "give output.fof_length");
  EXPECT_MESSAGE(told("  fof_length: 1 pc\n"), "run.yml:10", "output.fof_length", "give output.fof: true");
  EXPECT_MESSAGE(told("  fof: true\n  fof_length: 1 pc\n  fields: [Coordinates, Masses]\n"), "output.fof",
                 "must have Velocities");
  EXPECT_TRUE(parse(minimal + "output: {fof: true, fof_length: 1 pc}\n").output.fof);
  EXPECT_TRUE(parse(minimal + "box: {periodic: true, size: 100 kpc}\noutput: {fof: true}\n").output.fof);
}

TEST(Parameters, wrong_type_names_line_and_what_is_right) {
  EXPECT_MESSAGE(message(minimal + "  begin: soon\n"), "run.yml:9", "time.begin", "soon", "number");
  EXPECT_MESSAGE(message(minimal + "output:\n  render: perhaps\n"), "run.yml:10", "true or false");
  EXPECT_MESSAGE(message(minimal + "audit:\n  every: 1.5\n"), "run.yml:10", "whole number");
  EXPECT_MESSAGE(message(minimal + "audit:\n  every: [1]\n"), "run.yml:10", "whole number");
  EXPECT_MESSAGE(message(minimal, {"gravity.kernel=top-hat"}), "-P gravity.kernel=top-hat",
                 "plummer, spline");
  EXPECT_MESSAGE(message(minimal, {"tuning.cost=guessed"}), "-P tuning.cost=guessed", "'guessed'",
                 "counted, measured");
  EXPECT_MESSAGE(message(minimal, {"gravity.softening={9: 1}"}), "'9'", "0 to 5");
  EXPECT_MESSAGE(message(minimal, {"output.fields=[Colour]"}), "'Colour'", "Coordinates, Velocities");
}

TEST(Parameters, true_and_false_are_written_as_yaml_allows) {
  for (const std::string word : {"true", "True", "TRUE", "yes", "on"})
    EXPECT_TRUE(parse(minimal, {"output.render=" + word}).output.render) << word;
  for (const std::string word : {"false", "False", "FALSE", "no", "off"})
    EXPECT_FALSE(parse(minimal, {"output.render=" + word}).output.render) << word;
}

TEST(Parameters, map_without_spaces_is_told_once_what_is_missing) {
  const std::string told = message(minimal, {"gravity.softening={1:0.01}"});
  EXPECT_MESSAGE(told, "space after the colon");
  EXPECT_EQ(told.find("gravity.softening"), told.rfind("gravity.softening")) << told;
  const std::string list = message(minimal, {"gravity.softening=[1]"});
  EXPECT_MESSAGE(list, "expected number or map");
  EXPECT_EQ(list.find("expected"), list.rfind("expected")) << list;
}

TEST(Parameters, wrong_unit_names_the_possible_ones) {
  EXPECT_MESSAGE(message(minimal, {"gravity.softening=16 Myr"}), "gravity.softening", "kpc");
  EXPECT_MESSAGE(message(minimal, {"gravity.softening=16 furlong"}), "furlong", "kpc");
  EXPECT_MESSAGE(message(minimal, {"gravity.theta=0.5 kpc"}), "gravity.theta");
}

TEST(Parameters, out_of_range_names_the_range) {
  EXPECT_MESSAGE(message(minimal, {"time.step=0"}), "time.step", "above 0");
  EXPECT_MESSAGE(message(minimal, {"gravity.theta=2.5"}), "gravity.theta", "at least 0 and at most 2");
  EXPECT_MESSAGE(message(minimal, {"gravity.softening=-1 pc"}), "at least 0");
  EXPECT_MESSAGE(message(minimal, {"initial_conditions.seed=-1"}), "at least 0");
  EXPECT_MESSAGE(message(minimal, {"gravity.softening=nan"}), "gravity.softening");
  EXPECT_MESSAGE(message(minimal, {"time.begin=3 Gyr"}), "time.end", "before time.begin");
}

TEST(Parameters, critical_separation_is_for_groups_of_octrees) {
  const std::string given = "gravity.critical_separation=1 kpc", octree = "gravity.tree=octree";
  EXPECT_MESSAGE(message(minimal, {given}), "gravity.critical_separation", "gravity.tree: octree");
  EXPECT_MESSAGE(message(minimal, {given, octree, "gravity.walk=rope"}), "gravity.walk: groups");
  EXPECT_EQ(message(minimal, {given, octree}), "");
}

TEST(Parameters, unknown_keys_get_the_likeliest_of_their_section) {
  // By a slip of the pen in another one, too; else by the words of the description, or the fewest edits.
  EXPECT_MESSAGE(message(minimal, {"gas.gamma=1.4"}), "did you mean 'gas.adiabatic_index'");
  EXPECT_MESSAGE(message(minimal, {"cosmology.hubble=0.7"}), "did you mean 'cosmology.h'");
  EXPECT_MESSAGE(message(minimal, {"gas.softening=1"}), "did you mean 'gravity.softening'");
  EXPECT_MESSAGE(message(minimal, {"gravity.sofening=1"}), "did you mean 'gravity.softening'");
  EXPECT_MESSAGE(message(minimal, {"gas.qqqqqqqqqqqqqqqqqq=1"}), "did you mean 'gas.");
}

TEST(Parameters, keys_of_trees_are_for_runs_that_have_them) {
  const std::string bucket = "gravity.bucket=4", split = "gravity.split=median";
  EXPECT_MESSAGE(message(minimal, {bucket}), "gravity.bucket", "gravity.tree: octree or kd");
  EXPECT_MESSAGE(message(minimal, {split, "gravity.tree=octree"}), "gravity.split", "gravity.tree: kd");
  EXPECT_EQ(message(minimal, {bucket, "gravity.tree=octree"}), "");
  const std::string curve = "gravity.curve=morton";
  EXPECT_MESSAGE(message(minimal, {curve, "gravity.tree=kd"}), "gravity.curve", "gravity.tree: octree");
  EXPECT_EQ(message(minimal, {curve, "gravity.tree=octree"}), "");
  const std::string octupoles = "gravity.order=octupole";
  EXPECT_MESSAGE(message(minimal, {octupoles, "gravity.kernel=plummer"}), "gravity.order",
                 "give gravity.kernel: spline");
  EXPECT_MESSAGE(message(minimal, {octupoles, "gravity.criterion=relative_edge"}), "gravity.order",
                 "give gravity.criterion: acceleration");
  EXPECT_EQ(message(minimal, {octupoles}), "");
  EXPECT_EQ(parse(minimal).gravity.order, Order::quadrupole);
  const std::string cells = "gravity.criterion=opening_cell";
  EXPECT_MESSAGE(message(minimal, {cells}), "gravity.criterion", "gravity.tree: octree");
  EXPECT_EQ(message(minimal, {cells, "gravity.tree=octree"}), "");
  EXPECT_EQ(message(minimal, {bucket, split, "gravity.tree=kd"}), "");
}

TEST(Parameters, unknown_key_suggests_the_nearest) {
  EXPECT_MESSAGE(message(minimal, {"gravity.thta=1"}), "unknown key 'gravity.thta'", "'gravity.theta'");
  EXPECT_MESSAGE(message(minimal + "  folder: x\n"), "run.yml:9", "'output.folder'");
  EXPECT_MESSAGE(message(minimal + "gravty:\n  delta: 1\n"), "run.yml:10", "'gravity.delta'");
}

TEST(Parameters, contradictory_keys_name_both) {
  EXPECT_MESSAGE(message(minimal + "output:\n  every: 1\n  times: [1]\n"), "run.yml:11", "output.times",
                 "output.every (run.yml:10)");
  EXPECT_MESSAGE(message(minimal, {"initial_conditions.file=a.hdf5"}), "run.yml:3: initial_conditions.model",
                 "initial_conditions.file (-P initial_conditions.file=a.hdf5)");
  EXPECT_MESSAGE(message(minimal, {"units.system=galactic", "units.length=1"}), "units.length",
                 "units.system");
  EXPECT_MESSAGE(message(minimal, {"decomposition.leaves=4", "decomposition.leaf_size=64"}), "give one");
  EXPECT_MESSAGE(message(minimal, {"tuning.rebuild_interval=4", "tuning.rebuild_above=0.2"}),
                 "tuning.rebuild_above", "contradicts tuning.rebuild_interval", "give one");
  EXPECT_MESSAGE(message(minimal + "  step: 2\n"), "run.yml:9", "run.yml:8", "once");
}

TEST(Parameters, missing_key_is_named) {
  EXPECT_MESSAGE(message("time: {end: 1, step: 1}\ninitial_conditions: {file: a}\n"), "run.yml",
                 "gravity.softening");
  EXPECT_MESSAGE(message("time: {end: 1, step: 1}\ngravity: {softening: 1}\n"), "initial_conditions.file",
                 "initial_conditions.model");
}

TEST(Parameters, keys_are_single_words) {
  EXPECT_MESSAGE(message(minimal + "[a, b]: {c: 1}\n"), "run.yml:9", "single word", "a list");
  EXPECT_MESSAGE(message(minimal + "audit: {{every: 1}: 2}\n"), "run.yml:9", "single word", "a map");
  EXPECT_MESSAGE(message(minimal + "audit: {'': 2}\n"), "run.yml:9", "single word", "empty");
}

TEST(Parameters, softening_of_an_option_reads_as_that_of_the_file) {
  const Softening map = parse_softening("{1: 0.5, 2: 16 pc}", "--softening", Units::galactic());
  EXPECT_EQ(map.length, (std::array<double, 6>{0, 0.5, 0.016, 0, 0, 0}));
  EXPECT_EQ(map.types, 1 << 1 | 1 << 2);
  EXPECT_EQ(parse_softening("16 pc", "--softening", Units::galactic()).length[5], 0.016);
  for (const char* wrong : {"{7: 1}", "{1: -1}", "{1:0.1}", "[1]", "soft", "{1: 1", ""}) try {
      parse_softening(wrong, "--softening", Units::galactic());
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("--softening"), 0u) << error.what();
    }
}

TEST(Parameters, broken_yaml_names_the_line) {
  EXPECT_MESSAGE(message("time: {end: 1\ngravity: [\n"), "run.yml:");
  EXPECT_MESSAGE(message("just words"), "run.yml:1", "sections");
  EXPECT_MESSAGE(message(minimal, {"nonsense"}), "-P nonsense", "section.key=value");
}

TEST(Parameters, used_parameters_resolve_to_the_same) {
  const std::vector<std::vector<std::string>> cases{
      {},
      {"units.length=1 pc", "units.mass=3 Msun", "units.velocity=0.1 km/s"},
      {"units.system=none", "time.end=2", "gravity.softening={0: 0.1, 4: 0.3}"},
      {"initial_conditions.seed=0", "initial_conditions.n=1e6", "output.every=0.1", "output.files=3"},
      {"decomposition.leaf_size=64", "output.times=[0.1, 1]", "output.fields=[Masses]",
       "output.types=[1, 5]"},
      {"decomposition.leaves=64", "gravity.kernel=plummer", "output.folder='it''s: a # folder'",
       "audit.every=8"},
      {"gravity.tree=octree", "gravity.curve=morton"},
      {"tuning.cost=measured"},
      {"tuning.rebuild_above=0.2"},
      {"tuning.rebuild_interval=4"},
      {"gas.kernel=cubic_spline", "gas.formulation=paper", "gas.equation_of_state=isothermal",
       "gas.adiabatic_index=1.4", "gas.viscosity=0.5", "gas.courant=0.3", "gravity.self_gravity=false"},
      {"initial_conditions.molecular_weight=0.6"},
      {"output.render=false", "output.render.width=10 kpc"},
      {"output.fof=true", "output.fof_length=3 pc"},
      {"output.render={axes: [y], centre: [1, 2 pc, 3], types: [2], limits: [1e5 Msun/kpc^2, 1], width: 3 "
       "kpc}"},
  };
  for (const auto& overrides : cases) {
    const std::string used = used_parameters(parse(minimal, overrides));
    EXPECT_EQ(used_parameters(parse(used)), used);
  }
  const Parameters physical = parse(minimal, {"time.end=7 Myr", "time.step=0.3 Myr",
                                              "gravity.softening=0.3 pc", "initial_conditions.scale=5 pc"});
  const std::string in_units = used_parameters(physical);
  for (const char* line :
       {"  end: 7 Myr  #", "  step: 0.3 Myr  #", "  softening: 0.3 pc  #", "  scale: 5 pc  #"})
    EXPECT_NE(in_units.find(line), std::string::npos) << line << " is not in " << in_units;
  EXPECT_EQ(parse(in_units).time.end, physical.time.end) << "to the last bit";
  EXPECT_EQ(parse(in_units).gravity.softening, physical.gravity.softening);
  EXPECT_EQ(parse(in_units).shown.names(), physical.shown.names());
  const Parameters again = parse(used_parameters(parse(minimal, cases[3])));
  EXPECT_EQ(again.initial_conditions.model.seed, 0u);
}

TEST(Parameters, documentation_page_is_current) {
  EXPECT_EQ(read_text(GROVE_SOURCE_DIR "/docs/parameters.md"), parameter_documentation())
      << "make it anew: grove info --parameters > docs/parameters.md";
}

TEST(Parameters, shortest_steps_are_not_lost_to_rounding) {
  // 0.3 / 3 is below 0.1 in its last bit.
  TimeParameters time;
  time.min_step = 0.025;
  EXPECT_EQ(time.rule(0.3 / 3, {}).deepest, 2);
  EXPECT_EQ(time.rule(0.09, {}).deepest, 1);
  time.steps = StepKind::shared;
  EXPECT_EQ(time.rule(0.1, {}).deepest, 0);
}

}  // namespace
}  // namespace grove
