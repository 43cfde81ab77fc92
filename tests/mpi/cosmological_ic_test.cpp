// `grove ic cosmological-box | cosmological-sphere` as the command line runs them, and the same models in
// parameter files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "run/start/cosmological_model.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/run_timeline.hpp"
#include "structure/power_spectrum.hpp"
#include "support/change_hdf5.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::grove;

const std::string parameters_text = R"(
initial_conditions: {model: cosmological-box, sites: 12, box_size: 200 Mpc, redshift: 40, seed: 3}
cosmology: {h: 0.7, omega_matter: 0.3, omega_lambda: 0.7, omega_baryon: 0.045, sigma8: 0.8, spectral_index: 0.96}
gravity: {softening: 100 kpc}
box: {periodic: true}
time: {end: z=0, step: 1 Gyr}
)";

class CosmologicalConditions : public ::testing::Test {
 protected:
  /// Makes a file; alone: each rank for itself.
  std::string make(const std::string& name, std::vector<std::string> words, bool alone = false) {
    const std::string file = folder_ / (alone ? std::to_string(comm_.rank()) + name : name);
    words.insert(words.begin(), "ic");
    words.insert(words.end(), {"-o", file});
    grove(alone ? alone_ : comm_, words);
    comm_.barrier();
    return file;
  }
  static std::string content(const std::string& file) {
    std::stringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static std::vector<std::string> box_words() {
    return {"cosmological-box",
            "--sites",
            "12",
            "--box-size",
            "200 Mpc",
            "--redshift",
            "40",
            "--seed",
            "3",
            "--hubble",
            "0.7",
            "--omega-matter",
            "0.3",
            "--omega-lambda",
            "0.7",
            "--omega-baryon",
            "0.045",
            "--sigma8",
            "0.8",
            "--spectral-index",
            "0.96"};
  }
  void expect_message(const std::string& part, const std::function<void()>& run) {
    try {
      run();
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  testing::TestFolder folder_{comm_, "cosmological_conditions"};
};

TEST_F(CosmologicalConditions, files_have_the_same_bytes_on_any_number_of_ranks) {
  for (const std::string radius : {"", "80 Mpc"}) {
    std::vector<std::string> words = box_words();
    if (!radius.empty()) words[0] = "cosmological-sphere", words.insert(words.end(), {"--radius", radius});
    const std::string name = radius.empty() ? "box.hdf5" : "sphere.hdf5";
    const std::string one = content(make(name, words, true)), many = content(make(name, words));
    EXPECT_GT(one.size(), 20000u);
    EXPECT_TRUE(one == many);
  }
}

TEST_F(CosmologicalConditions, of_a_file_and_of_a_run_are_the_same) {
  const std::string file = make("box.hdf5", box_words());
  const Parameters p = parse_parameters(parameters_text, "run.yml", {});
  const InitialState state = initial_state(comm_, p);
  const Snapshot read = read_snapshot(comm_, file, {.convert_to = p.units, .h = p.cosmology.h});
  EXPECT_NEAR(read.header.redshift, 40, 1e-12);
  EXPECT_NEAR(read.header.box_size.x / 200e3, 1, 1e-6) << "a Mpc to its digits";
  EXPECT_NEAR(state.time / Expansion(*p.universe).time(1 / 41.), 1, 1e-12);
  ASSERT_EQ(read.particles.size(), state.particles.size());
  for (std::size_t i = 0; i < state.particles.size(); ++i) {
    EXPECT_EQ(read.particles.id[i], state.particles.id[i]);
    // Products and quotients by h and a round by some 1e-16 of their values.
    EXPECT_NEAR(read.particles.mass[i], state.particles.mass[i], 1e-14 * state.particles.mass[i]);
    EXPECT_LT(norm(read.particles.position[i] - state.particles.position[i]), 1e-14 * 4e5);
    EXPECT_LT(norm(read.particles.velocity[i] - state.particles.velocity[i]),
              1e-14 * norm(state.particles.velocity[i]));
  }
}

TEST_F(CosmologicalConditions, of_a_file_tell_the_edge_of_the_periodic_box) {
  const std::string file = make("box.hdf5", box_words());
  std::string text = parameters_text;
  const std::size_t line = text.find("initial_conditions");
  text.replace(line, text.find('\n', line) - line, "initial_conditions: {file: " + file + "}");
  const auto parameters = [&](const std::vector<std::string>& overrides) {
    return resolve_parameters(comm_, text, "run.yml", overrides);
  };
  const Parameters p = parameters({});
  const Snapshot read = read_snapshot(comm_, file, {.convert_to = p.units, .h = p.cosmology.h});
  ASSERT_TRUE(p.box.size);
  EXPECT_EQ(*p.box.size, read.header.box_size.x) << "bit for bit";
  EXPECT_EQ(p.gravity.images.edge, *p.box.size);
  EXPECT_EQ(initial_state(comm_, p).particles.size(), read.particles.size());
  EXPECT_NEAR(*parameters({"box.size=150 Mpc"}).box.size / 150e3, 1, 1e-6) << "a Mpc to its digits";
  expect_message("states a box of", [&] { initial_state(comm_, parameters({"box.size=150 Mpc"})); });
}

TEST_F(CosmologicalConditions, of_a_run_begin_at_the_time_that_it_says) {
  const auto redshift = [&](const std::vector<std::string>& overrides) {
    return cosmological_volume(comm_, parse_parameters(parameters_text, "run.yml", overrides)).redshift;
  };
  EXPECT_EQ(redshift({}), 40);
  EXPECT_EQ(redshift({"time.begin=z=40"}), 40);
  EXPECT_THROW(redshift({"time.begin=z=41"}), InputError);
  std::string text = parameters_text;
  text.erase(text.find(", redshift: 40"), 14);
  EXPECT_NEAR(cosmological_volume(comm_, parse_parameters(text, "run.yml", {"time.begin=z=30"})).redshift, 30,
              1e-10);
  expect_message("needs a redshift",
                 [&] { cosmological_volume(comm_, parse_parameters(text, "run.yml", {})); });
}

TEST_F(CosmologicalConditions, of_a_run_whose_outputs_lie_outside_are_told_as_redshifts) {
  const Parameters p =
      parse_parameters(parameters_text, "run.yml", {"time.begin=z=40", R"(output.times=["z=50"])"});
  expect_message(" Gyr (z = 50) lies outside the run, ",
                 [&] { output_times_of(p, *p.time.begin, p.time.end); });
  expect_message(" Gyr (z = 40) to ", [&] { output_times_of(p, *p.time.begin, p.time.end); });
  expect_message(" Gyr (z = 0)", [&] { output_times_of(p, *p.time.begin, p.time.end); });
}

TEST_F(CosmologicalConditions, take_a_table) {
  const std::string table = folder_ / "spectrum.txt";
  if (comm_.is_master()) std::ofstream(table) << "# k P\n0.001 1\n0.01 1\n0.1 1\n1 1\n10 1\n";
  comm_.barrier();
  // P = 1 (Mpc/h)^3 at all k: its sigma8^2 is 1 over the sphere's volume, and without sigma8 the table's.
  const auto sigma8 = [&](const std::string& value) {
    const Parameters p = parse_parameters(
        parameters_text, "run.yml", {"initial_conditions.spectrum=" + table, "cosmology.sigma8=" + value});
    const CosmologicalVolume v = cosmological_volume(comm_, p);
    return LinearSpectrum(v.cosmology.omega_matter, v.spectrum).sigma(8);
  };
  EXPECT_NEAR(sigma8("0.5"), 0.5, 1e-14);
  std::string text = parameters_text;
  text.erase(text.find(", sigma8: 0.8"), 13);
  const CosmologicalVolume v =
      cosmological_volume(comm_, parse_parameters(text, "run.yml", {"initial_conditions.spectrum=" + table}));
  EXPECT_EQ(v.spectrum.sigma8, 0);
  EXPECT_EQ(cosmological_volume(comm_, parse_parameters(text, "run.yml",
                                                        {"initial_conditions.spectrum=" + table,
                                                         "cosmology.preset=planck2018"}))
                .spectrum.sigma8,
            0)
      << "nobody gave it";
  // Without what lies beyond x = k R = 80: 4.5 / 80 of the integral 3 pi / 2 of (x W)^2, of which cos^2 x
  // makes less than 4.5 / 80^2 of difference.
  const double all = 3 / (4 * std::numbers::pi * 512), missing = 4.5 / 80 / (1.5 * std::numbers::pi);
  EXPECT_NEAR(LinearSpectrum(0.3, v.spectrum).sigma(8) / std::sqrt(all * (1 - missing)), 1, 1e-4);
}

TEST_F(CosmologicalConditions, follow_the_spectrum_as_grove_power_finds_it) {
  std::vector<std::string> words = box_words();
  words.push_back("--fixed");
  const std::string file = make("fixed.hdf5", words), csv = folder_ / "power.csv";
  grove(comm_, {"power", file, "-o", csv});
  comm_.barrier();
  std::istringstream table(content(csv));
  std::string heading;
  std::getline(table, heading);
  EXPECT_EQ(heading, "k [h/Mpc],modes,power [(Mpc/h)^3],shot noise,error");
  double k = 0, modes = 0, power = 0;
  char comma = 0;
  table >> k >> comma >> modes >> comma >> power;
  const Parameters p = parse_parameters(parameters_text, "run.yml", {});
  const CosmologicalVolume v = cosmological_volume(comm_, p);
  const LinearSpectrum spectrum(0.3, v.spectrum);
  const double fundamental = 2 * std::numbers::pi / 140;
  EXPECT_NEAR(k / fundamental, (6 + 12 * std::sqrt(2.0)) / 18, 1e-6);
  const double expected = power_growth(Expansion(v.cosmology), 40) *
                          (6 * spectrum(fundamental) + 12 * spectrum(fundamental * std::sqrt(2.0))) / 18;
  // The next order adds as much as the rms of the density, 0.03, over the square root of 18 modes.
  EXPECT_NEAR(power / expected, 1, 0.01);
}

TEST_F(CosmologicalConditions, are_cut_out_of_a_box) {
  const std::string box = make("box.hdf5", box_words());
  std::vector<std::string> words{"cosmological-sphere", "--cut-sphere", box, "--radius", "80 Mpc"};
  words.insert(words.end(), {"--hubble", "0.7", "--omega-matter", "0.3", "--omega-lambda", "0.7"});
  const std::string file = make("cut.hdf5", words);
  EXPECT_TRUE(content(make("cut.hdf5", words, true)) == content(file));
  const auto read = [&](const std::string& path) {
    return read_snapshot(alone_, path, {.convert_to = Units::galactic(), .h = 0.7}).particles;
  };
  const Particles all = read(box), sphere = read(file);
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Vec3d x = all.position[i] - Vec3d{100e3, 100e3, 100e3};
    if (!(norm(x) <= 80e3)) continue;
    ASSERT_LT(next, sphere.size());
    EXPECT_EQ(sphere.id[next], all.id[i]);
    // A Mpc to its digits, and roundings of both ways.
    EXPECT_LT(norm(sphere.position[next] - x), 1e-8);
    EXPECT_LT(norm(sphere.velocity[next] - all.velocity[i]), 1e-13 * norm(all.velocity[i]));
    ++next;
  }
  EXPECT_EQ(next, sphere.size());
  EXPECT_GT(next, 400u) << "12^3 x 4 pi / 3 x (80 / 200)^3 = 463";
  const auto cut = [&](std::vector<std::string> other) {
    other.insert(other.begin(),
                 {"ic", "cosmological-sphere", "--cut-sphere", box, "-o", folder_ / "none.hdf5"});
    grove(comm_, other);
  };
  expect_message("needs --radius", [&] { cut({}); });
  for (const std::vector<std::string>& ignored :
       std::vector<std::vector<std::string>>{{"--sites", "8"},
                                             {"--seed", "2"},
                                             {"--redshift", "9"},
                                             {"--fixed"},
                                             {"--zeldovich"},
                                             {"--spectrum", "smooth"},
                                             {"--sigma8", "0.8"}}) {
    std::vector<std::string> with{"--radius", "80 Mpc", "--cosmology", "planck2018"};
    with.insert(with.end(), ignored.begin(), ignored.end());
    expect_message("leave " + ignored[0] + " out", [&] { cut(with); });
  }
  expect_message("needs --omega-lambda as well, or --cosmology", [&] {
    cut({"--radius", "80 Mpc", "--hubble", "0.7", "--omega-matter", "0.3"});
  });
  expect_message("is more than half of the box", [&] {
    cut({"--radius", "101 Mpc", "--hubble", "0.7", "--omega-matter", "0.3", "--omega-lambda", "0.7"});
  });
  expect_message("has h = 0.7", [&] { cut({"--radius", "80 Mpc", "--cosmology", "planck2018"}); });
  expect_message("its particles have the density of omega_matter 0.3, but 0.31 is given", [&] {
    cut({"--radius", "80 Mpc", "--hubble", "0.7", "--omega-matter", "0.31", "--omega-lambda", "0.7"});
  });
}

TEST_F(CosmologicalConditions, of_another_universe_are_refused) {
  const std::string file = make("box.hdf5", box_words());
  const auto run = [&](const std::string& matter, const std::string& lambda) {
    initial_state(comm_, parse_parameters("initial_conditions: {file: " + file +
                                              "}\nbox: {periodic: true, size: 200 Mpc}\ncosmology: {h: 0.7, "
                                              "omega_matter: " +
                                              matter + ", omega_lambda: " + lambda +
                                              "}\ngravity: {softening: 100 kpc}\n"
                                              "time: {end: z=0, step_ln_a: 0.1}\n",
                                          "run.yml", {}));
  };
  EXPECT_NO_THROW(run("0.3004", "0.6996")) << "as headers of three digits have them";
  expect_message("Omega0 is 0.3, but the run has cosmology.omega_matter 0.31", [&] { run("0.31", "0.7"); });
  expect_message("OmegaLambda is 0.7, but the run has cosmology.omega_lambda 0.69",
                 [&] { run("0.3", "0.69"); });
  // Masses alone say it then.
  if (comm_.is_master()) testing::set_attribute(file, "Header", "Omega0", 0);
  comm_.barrier();
  EXPECT_NO_THROW(run("0.301", "0.7"));
  expect_message("have the mean density of cosmology.omega_matter 0.3, but 0.31 is given",
                 [&] { run("0.31", "0.7"); });
}

TEST_F(CosmologicalConditions, say_what_is_wrong) {
  const auto ic = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "ic");
    words.insert(words.end(), {"-o", folder_ / "none.hdf5"});
    grove(comm_, words);
  };
  expect_message("does not depend on --mass", [&] { ic({"cosmological-box", "--mass", "1"}); });
  expect_message("but on --sites", [&] { ic({"cosmological-box", "-n", "8"}); });
  expect_message("needs --box-size", [&] { ic({"cosmological-box", "--sites", "8"}); });
  expect_message("needs --radius", [&] {
    ic({"cosmological-sphere", "--sites", "8", "--box-size", "9 Mpc"});
  });
  expect_message("has no radius", [&] {
    ic({"cosmological-box", "--sites", "8", "--box-size", "9 Mpc", "--radius", "1 Mpc"});
  });
  expect_message("needs --sites", [&] { ic({"cosmological-box", "--box-size", "9 Mpc"}); });
  expect_message("needs --omega-matter, --omega-lambda, --omega-baryon, --sigma8, --spectral-index as well",
                 [&] {
                   ic({"cosmological-box", "--sites", "8", "--box-size", "9 Mpc", "--hubble", "0.7"});
                 });
  expect_message("70 km/s/Mpc are h = 0.7", [&] {
    ic({"cosmological-box", "--sites", "8", "--box-size", "9 Mpc", "--cosmology", "eds", "--hubble", "70"});
  });
  expect_message("there is no model 'cosmologicalbox'; there are: cosmological-box, cosmological-sphere",
                 [&] {
                   ic({"cosmologicalbox", "--sites", "8"});
                 });
  expect_message("--sites is of the models", [&] { ic({"plummer", "--sites", "8"}); });
  expect_message("--units galactic", [&] { ic({"cosmological-box", "--units", "none"}); });
  const auto parse = [](const std::vector<std::string>& overrides) {
    cosmological_volume(Communicator(MPI_COMM_WORLD),
                        parse_parameters(parameters_text, "run.yml", overrides));
  };
  expect_message("initial_conditions.n", [&] { parse({"initial_conditions.n=8"}); });
  expect_message("is of the models cosmological-box", [&] { parse({"initial_conditions.model=plummer"}); });
  expect_message("sites = 1", [&] { parse({"initial_conditions.sites=1"}); });
}

/// Power of a file's particles in units of the box, by shells of one fundamental wavenumber.
std::vector<PowerBin> power_of(const Communicator& comm, const std::string& file, int mesh) {
  const Snapshot snapshot = read_snapshot(comm, file, {.unstated = Units::dimensionless(), .comoving = true});
  const PowerOptions options{.box = snapshot.header.box_size.x, .mesh = mesh};
  return power_spectrum(comm, snapshot.particles.position, snapshot.particles.mass, options, HostPower());
}

TEST_F(CosmologicalConditions, of_a_glass_have_little_power_but_the_linear_one) {
  const std::vector<std::string> words = {"glass", "-n", "512"};
  const std::string glass = make("glass.hdf5", words);
  EXPECT_EQ(content(glass), content(make("glass.hdf5", words, true)));
  const std::vector<PowerBin> even = power_of(comm_, glass, 32);
  // Of forces between pairs no power is left but k^4 (Zel'dovich 1965): 1.2e-5 of the shot noise at the
  // longest waves, 11 times as much at waves of half that length; 16 but for the few modes.
  EXPECT_LT(even[0].power, 5e-5 * even[0].shot_noise);
  EXPECT_GT(even[1].power, 5 * even[0].power);
  EXPECT_LT(even[2].power, 5e-3 * even[2].shot_noise);

  std::vector<std::string> box = box_words();
  box[2] = "16";
  const std::string lattice = make("lattice.hdf5", box);
  box.insert(box.end(), {"--glass", glass});
  const std::string displaced = make("displaced.hdf5", box);
  EXPECT_EQ(content(displaced), content(make("displaced.hdf5", box, true)));
  const std::vector<PowerBin> expected = power_of(comm_, lattice, 64), found = power_of(comm_, displaced, 64);
  // The same modes, and the glass' own power beside them: 1e-2 of the longest waves'.
  for (const std::size_t i : {0U, 1U}) EXPECT_NEAR(found[i].power / expected[i].power, 1, 0.05) << i;
}

}  // namespace
}  // namespace grove
