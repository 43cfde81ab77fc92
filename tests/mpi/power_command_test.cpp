// `grove power` as the command line runs it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::grove;

class PowerCommand : public ::testing::Test {
 protected:
  std::string write(const Units& units) {
    WriteOptions options;
    options.units = units;
    options.types = 0x0f;
    write_snapshot(comm_, folder_ / "set.hdf5", test::make_particles(comm_, test::Shape::cusp, 2000),
                   options);
    return folder_ / "set.hdf5";
  }
  /// The table that the command writes with these words behind it.
  std::string table(const std::string& file, std::vector<std::string> words, const std::string& name = "") {
    words.insert(words.begin(), {"power", file});
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

TEST_F(PowerCommand, has_units) {
  const std::string file = write(Units::galactic());
  EXPECT_EQ(lines(table(file, {"--box-size", "4 kpc"}))[0], "k [1/kpc],modes,power [kpc^3],shot noise,error");
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
}

}  // namespace
}  // namespace grove
