// `grove combine` as the command line runs it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/foreign_formats.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::grove;

class CombineCommand : public ::testing::Test {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
  testing::TestFolder folder_{comm_, "combine_command"};
};

TEST_F(CombineCommand, puts_files_where_they_are_wanted) {
  const std::string host = folder_ / "host.hdf5", satellite = folder_ / "satellite.hdf5",
                    both = folder_ / "both.hdf5";
  grove(comm_, {"ic", "plummer", "-n", "300", "--units", "galactic", "-o", host});
  grove(comm_, {"ic", "plummer", "-n", "50", "--units", "none", "-o", folder_ / "bare.hdf5"});
  const std::vector<std::string> mixed{"combine", host, folder_ / "bare.hdf5", "-o", both};
  EXPECT_THROW(grove(comm_, mixed), InputError) << "units with and without G = 1";
  grove(comm_, {"ic", "plummer", "-n", "50", "--seed", "2", "--mass", "1e9 Msun", "--units", "galactic", "-o",
                satellite});
  grove(comm_, {"combine", host, satellite, "-C", "1.position=50 kpc, 0, 0", "-C", "1.type=2", "-o", both});
  const Snapshot snapshot = read_snapshot(comm_, both);
  EXPECT_EQ(snapshot.header.count(), 350);
  EXPECT_EQ(snapshot.header.counts[1], 300);
  EXPECT_EQ(snapshot.header.counts[2], 50);
  EXPECT_EQ(snapshot.header.time, 0);
  for (std::size_t i = 0; i < snapshot.particles.size(); ++i) {
    const bool is_satellite = snapshot.particles.type[i] == 2;
    EXPECT_EQ(snapshot.particles.id[i] > 300, is_satellite);
    // A Plummer sphere with a scale of 1 kpc ends at 99.9 % of its mass, 38.7 kpc.
    const Vec3d origin = is_satellite ? Vec3d{50, 0, 0} : Vec3d{0, 0, 0};
    EXPECT_LT(norm(snapshot.particles.position[i] - origin), 39);
    EXPECT_NEAR(snapshot.particles.mass[i], 0.999 * (is_satellite ? 0.1 / 50 : 1.0 / 300), 1e-9);
  }
  const std::vector<std::string> again{"combine", host, satellite, "-o", both};
  EXPECT_THROW(grove(comm_, again), InputError) << "it is there already";
  const std::vector<std::string> upon_input{"combine", host, satellite, "--overwrite", "-o", host};
  EXPECT_THROW(grove(comm_, upon_input), InputError);
  EXPECT_THROW(grove(comm_, {"combine", host, host, "-C", "1.id_offset=0", "--overwrite", "-o", both}),
               InputError)
      << "each id twice";
  grove(comm_, {"combine", host, host, "--overwrite", "-o", both});
  EXPECT_EQ(read_snapshot(comm_, both).header.count(), 600);
}

TEST_F(CombineCommand, refuses_ids_that_occur_twice_in_a_file_and_a_set_given_twice) {
  const std::string whole = folder_ / "whole.hdf5", set = folder_ / "set.hdf5", twice = folder_ / "twice",
                    both = folder_ / "both.hdf5";
  grove(comm_, {"ic", "plummer", "-n", "300", "--units", "galactic", "-o", whole});
  const Snapshot snapshot = read_snapshot(comm_, whole);
  WriteOptions options;
  options.units = snapshot.header.units;
  options.files = 2;
  write_snapshot(comm_, set, snapshot.particles, options);
  testing::put(comm_, twice, [] {
    Particles particles = testing::foreign_particles(Communicator(MPI_COMM_SELF), 50);
    particles.id[40] = particles.id[5];
    return testing::gadget_file(particles, {}, 0, 0, particles.size());
  });
  const auto expect_message = [&](const std::vector<std::string>& words, const std::string& part) {
    try {
      grove(comm_, words);
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_message({"combine", whole, twice, "-o", both}, twice + ": dataset PartType");
  expect_message({"combine", whole, twice, "-o", both}, "occurs more than once");
  const std::string first = folder_ / "set.0.hdf5", second = folder_ / "set.1.hdf5";
  expect_message({"combine", first, second, "-o", both}, second + " is of the set of " + first);
  grove(comm_, {"combine", first, whole, "-o", both});
  EXPECT_EQ(read_snapshot(comm_, both).header.count(), 600);
}

}  // namespace
}  // namespace grove
