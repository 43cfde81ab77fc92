// `grove power` as the command line runs it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::grove;

class PowerCommand : public ::testing::Test {
 protected:
  Particles particles() const { return test::make_particles(comm_, test::Shape::cusp, 2000); }
  std::string write(const Units& units) { return write(units, particles(), "set.hdf5"); }
  std::string write(const Units& units, const Particles& particles, const std::string& name) {
    WriteOptions options;
    options.units = units;
    options.types = 0x0f;
    write_snapshot(comm_, folder_ / name, particles, options);
    return folder_ / name;
  }
  /// The table that the command writes with these words behind it.
  std::string table(const std::string& file, std::vector<std::string> words, const std::string& name = "") {
    words.insert(words.begin(), {"power", file, "--overwrite"});
    if (!name.empty()) words.insert(words.end(), {"-o", folder_ / name});
    grove(comm_, words);
    comm_.barrier();
    std::ifstream csv(name.empty() ? folder_ / "set_power.csv" : folder_ / name);
    std::stringstream text;
    text << csv.rdbuf();
    comm_.barrier();
    return text.str();
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }

  static std::vector<double> values(const std::string& line) {
    std::istringstream stream(line);
    std::vector<double> all;
    for (std::string value; std::getline(stream, value, ',');) all.push_back(std::stod(value));
    return all;
  }

  Communicator comm_{MPI_COMM_WORLD};
  testing::TestFolder folder_{comm_, "power_command"};
};

TEST_F(PowerCommand, writes_a_table) {
  const std::string file = write(Units::dimensionless());
  const auto usual = lines(table(file, {"--box-size", "4"}));
  ASSERT_EQ(usual.size(), 1 + 15u) << "half of 2 x cbrt(2000) as a power of two, 32";
  EXPECT_EQ(usual[0], "k,modes,power,shot noise,error");
  EXPECT_EQ(
      lines(table(file, {"--box-size", "4", "--mesh", "16", "--folds", "1", "--assignment", "cic"}, "a.csv"))
          .size(),
      1 + 3 + 6u);
  double k = 0, modes = 0, power = 0, noise = 0, less = 0;
  char comma = 0;
  std::istringstream(usual[1]) >> k >> comma >> modes >> comma >> power >> comma >> noise;
  // Shell 1: 6 modes of |m| = 1 and 12 of sqrt(2), all in units of 2 pi / 4.
  EXPECT_EQ(modes, 18);
  EXPECT_NEAR(k, 1.57079633 * (6 + 12 * 1.41421356) / 18, 1e-8);
  const auto without = lines(table(file, {"--box-size", "4", "--subtract-shot-noise"}, "b.csv"));
  std::istringstream(without[1]) >> k >> comma >> modes >> comma >> less;
  EXPECT_NEAR(less, power - noise, 1e-7 * power) << "nine digits are written";
}

TEST_F(PowerCommand, warns_where_a_lattice_has_no_shot_noise) {
  constexpr std::size_t edge = 12;
  Particles lattice;
  for (std::size_t i = static_cast<std::size_t>(comm_.rank()); i < edge * edge * edge;
       i += static_cast<std::size_t>(comm_.size())) {
    lattice.position.push_back({static_cast<double>(i % edge), static_cast<double>(i / edge % edge),
                                static_cast<double>(i / (edge * edge))});
    lattice.velocity.push_back({});
    lattice.mass.push_back(1);
    lattice.type.push_back(1);
    lattice.id.push_back(i + 1);
  }
  const std::string file = write(Units::dimensionless(), lattice, "lattice.hdf5");
  const auto told = [&](std::vector<std::string> words) {
    ::testing::internal::CaptureStderr();
    table(file, words, "lattice.csv");
    std::fflush(stderr);
    return comm_.broadcast(::testing::internal::GetCapturedStderr());
  };
  EXPECT_NE(told({"--box-size", "12", "--subtract-shot-noise"}).find("have less power than the shot noise"),
            std::string::npos);
  EXPECT_EQ(told({"--box-size", "12"}), "");
}

TEST_F(PowerCommand, measures_some_types_as_if_there_were_no_others) {
  Particles some = particles();
  const auto all = static_cast<Count>(some.size());
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < some.size(); ++i)
    if (some.type[i] == 1 || some.type[i] == 2) chosen.push_back(i);
  some.reorder(chosen);
  ASSERT_GT(comm_.sum(static_cast<Count>(some.size())), 0);
  ASSERT_LT(comm_.sum(static_cast<Count>(some.size())), comm_.sum(all));
  const std::vector<std::string> words{"--box-size", "4", "--mesh", "16"};
  const std::string of_some = write(Units::dimensionless(), some, "some.hdf5"),
                    of_all = write(Units::dimensionless());
  EXPECT_EQ(table(of_all, {"--box-size", "4", "--mesh", "16", "--types", "1,2"}, "chosen.csv"),
            table(of_some, words, "some.csv"));
  EXPECT_NE(table(of_all, words, "all.csv"), table(of_some, words, "some.csv"));
}

TEST_F(PowerCommand, has_units) {
  const std::string file = write(Units::galactic());
  EXPECT_EQ(lines(table(file, {"--box-size", "4 kpc"}))[0], "k [1/kpc],modes,power [kpc^3],shot noise,error");
}

// Snapshots have lengths in units with h, whose rounding shows in the ninth digit at most.
TEST_F(PowerCommand, finds_what_a_run_has_measured_with_its_snapshots) {
  comm_.together([&] {
    if (comm_.is_master())
      write_text(folder_ / "box.yml",
                 "initial_conditions: {model: cosmological-box, sites: 8, box_size: 50 Mpc}\n"
                 "cosmology: {preset: planck2018}\nbox: {periodic: true}\n"
                 "gravity: {softening: 1 Mpc, direct_below: 1000}\n"
                 "time: {begin: z=9, end: z=8, step_ln_a: 0.05}\n"
                 "output: {folder: " +
                     folder_ / "box" + ", times: ['z=9', 'z=8'], render: false, power: true}\n");
  });
  grove(comm_, {"run", "--quiet", folder_ / "box.yml"});
  for (const std::string name : {"snapshot_000", "snapshot_001"}) {
    std::ifstream csv(folder_ / ("box/" + name + "_power.csv"));
    std::stringstream text;
    text << csv.rdbuf();
    const auto of_run = lines(text.str()),
               of_file = lines(table(folder_ / ("box/" + name + ".hdf5"), {}, "c.csv"));
    ASSERT_EQ(of_run.size(), 1 + 7u) << "below Nyquist's frequency of 16 points";
    ASSERT_EQ(of_file.size(), of_run.size());
    EXPECT_EQ(of_run[0], "k [h/Mpc],modes,power [(Mpc/h)^3],shot noise,error");
    EXPECT_EQ(of_file[0], of_run[0]);
    for (std::size_t bin = 1; bin < of_run.size(); ++bin) {
      const std::vector<double> a = values(of_run[bin]), b = values(of_file[bin]);
      ASSERT_EQ(a.size(), 5u);
      ASSERT_EQ(b.size(), 5u);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a[i], b[i], 2e-9 * a[i]) << of_run[bin];
    }
  }
  // The file's numbers are in kpc/h, a length with a unit is not.
  const std::string file = folder_ / "box/snapshot_001.hdf5";
  EXPECT_EQ(table(file, {"--box-size", "50 Mpc"}, "given.csv"), table(file, {}, "own.csv"));
  try {
    grove(comm_, {"power", file, "--box-size", "20 Mpc", "-o", folder_ / "wrong.csv"});
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is not the box of"), std::string::npos) << error.what();
  }
}

TEST_F(PowerCommand, says_what_is_wrong) {
  const auto expect_message = [](const std::string& part, auto&& run) {
    try {
      run();
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const std::string file = write(Units::dimensionless());
  expect_message("states no cubic box", [&] { grove(comm_, {"power", file}); });
  expect_message("--box-size: -1 must be", [&] { grove(comm_, {"power", file, "--box-size=-1"}); });
  expect_message("no particles of these types", [&] {
    grove(comm_, {"power", file, "--box-size", "4", "--types", "5"});
  });
  expect_message("--mesh", [&] { grove(comm_, {"power", file, "--box-size", "4", "--mesh", "3"}); });
  const std::string table = folder_ / "set_power.csv";
  if (comm_.is_master()) std::ofstream(table) << "kept";
  comm_.barrier();
  expect_message("--overwrite", [&] { grove(comm_, {"power", file, "--box-size", "4"}); });
  EXPECT_EQ(testing::bytes_of(table), "kept");
}

}  // namespace
}  // namespace grove
