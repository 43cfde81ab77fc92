// `grove fof` as the command line runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "io/hdf5.hpp"
#include "io/snapshot.hpp"
#include "support/catalogue_columns.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::columns_of;
using testing::grove;

class FofCommand : public ::testing::Test {
 protected:
  /// 16 clumps in a box of edge 1, in a snapshot that states it. comoving: at z = 1, with an h.
  std::string write(const std::string& name, bool comoving, double box = 1) {
    Particles particles;
    for (ParticleId i = 0; i < 4000; ++i) {
      if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm_.size())) != comm_.rank()) continue;
      const std::size_t at = particles.size();
      particles.resize(at + 1);
      test::set_particle(particles, at, test::Shape::uniform, i, false);
      const Vec3d u = test::place(test::Shape::uniform, i);
      Vec3d p = i % 4 == 0 ? u
                           : test::place(test::Shape::uniform, 1000000 + i % 16) +
                                 0.05 * std::pow(test::uniform(7777 + i), 2) * (u - Vec3d{0.5, 0.5, 0.5});
      for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
      particles.position[at] = p;
      particles.velocity[at] = {10, 20, 30};
      particles.mass[at] = 0.01;
      particles.id[at] = i + 1;
      particles.type[at] = static_cast<std::uint8_t>(i % 8 == 0 ? 4 : 1);
    }
    WriteOptions options;
    options.units = Units::of(3.085678e24, 1.989e43, 1e5);
    options.box = box;
    if (comoving)
      options.comoving = ComovingTime{{.omega_matter = 0.3, .omega_lambda = 0.7, .hubble = 1}, 0.7, 0.5};
    write_snapshot(comm_, folder_ / name, particles, options);
    return folder_ / name;
  }
  void expect_fof_error(const std::string& part, const std::vector<std::string>& words) {
    try {
      grove(comm_, words);
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Communicator comm_{MPI_COMM_WORLD};
  testing::TestFolder folder_{comm_, "fof_command"};
};

TEST_F(FofCommand, writes_the_same_catalogue_on_any_number_of_ranks) {
  const std::string file = write("set.hdf5", true);
  grove(comm_, {"fof", file, "--json", folder_ / "fof.json"});
  const Communicator alone = comm_.split(comm_.rank());
  if (comm_.is_master()) grove(alone, {"fof", file, "-o", folder_ / "alone.hdf5"});
  comm_.barrier();
  const auto columns = columns_of(folder_ / "set_fof.hdf5"), on_one = columns_of(folder_ / "alone.hdf5");
  ASSERT_EQ(columns.size(), 15u);
  for (const auto& [name, column] : columns) EXPECT_EQ(column, on_one.at(name)) << name;

  const auto lengths = columns.at("Group/GroupLen").values<std::int64_t>();
  const auto ids = columns.at("IDs/ID").values<std::int64_t>();
  const auto offsets = columns.at("Group/GroupOffsetType").values<std::int64_t>();
  const auto by_type = columns.at("Group/GroupLenType").values<std::int64_t>();
  ASSERT_GE(lengths.size(), 10u);
  std::int64_t begin = 0;
  for (std::size_t group = 0; group < lengths.size(); ++group) {
    EXPECT_GE(lengths[group], 20);
    EXPECT_LE(lengths[group], lengths[group > 0 ? group - 1 : 0]);
    std::int64_t offset = begin;
    for (std::size_t type = 0; type < 6; ++type) {
      ASSERT_EQ(offsets[6 * group + type], offset);
      for (std::int64_t i = offset; i < offset + by_type[6 * group + type]; ++i)
        ASSERT_EQ((ids[static_cast<std::size_t>(i)] - 1) % 8 == 0 ? 4u : 1u, type);
      offset += by_type[6 * group + type];
    }
    begin += lengths[group];
    ASSERT_EQ(offset, begin);
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(begin));
  const nlohmann::json json = testing::read_json(folder_ / "fof.json");
  EXPECT_EQ(json["groups"], lengths.size());
  EXPECT_EQ(json["mass_function"][0]["or_more"], lengths.size());
}

TEST_F(FofCommand, knows_comoving_units) {
  const std::string file = write("set.hdf5", true);
  grove(comm_, {"fof", file});
  comm_.barrier();
  const std::string path = folder_ / "set_fof.hdf5";
  const hdf5::Handle catalogue = hdf5::open_file(path);
  const hdf5::Handle header = hdf5::open_group(catalogue, "Header", path),
                     parameters = hdf5::open_group(catalogue, "Parameters", path);
  EXPECT_DOUBLE_EQ(hdf5::read_attribute<double>(header, "Redshift", path).at(0), 1);
  // Lengths are in Mpc/h: 0.7 is that of the file's box of 1 Mpc.
  EXPECT_DOUBLE_EQ(hdf5::read_attribute<double>(header, "BoxSize", path).at(0), 0.7);
  const double length = hdf5::read_attribute<double>(parameters, "LinkingLength", path).at(0);
  EXPECT_NEAR(length, 0.2 * 0.7 / std::cbrt(4000.0), 1e-12);
  // 3 H^2 / (8 pi G) at z = 1, comoving: 27.7454 h^2 1e10 Msun / Mpc^3 (G of CODATA 2018, Msun of 1.989e33 g)
  // today.
  const double critical = hdf5::read_attribute<double>(parameters, "CriticalDensity", path).at(0);
  EXPECT_NEAR(critical / (27.7454 * (0.3 * 8 + 0.7) / 8), 1, 1e-5);
  const auto columns = columns_of(path);
  // Canonical momenta, which Grove has itself, stay what they are.
  for (const std::size_t axis : {0u, 1u, 2u})
    EXPECT_NEAR(columns.at("Group/GroupVel").values<double>()[axis], 10.0 * static_cast<double>(axis + 1),
                1e-9);
  const auto lengths = columns.at("Group/GroupLen").values<std::int64_t>();
  const auto masses = columns.at("Group/GroupMass").values<double>();
  for (std::size_t i = 0; i < lengths.size(); ++i)
    EXPECT_NEAR(masses[i], 0.007 * static_cast<double>(lengths[i]), 1e-9);
  const auto r200 = columns.at("Group/Group_R_Crit200").values<double>(),
             m200 = columns.at("Group/Group_M_Crit200").values<double>();
  for (std::size_t i = 0; i < r200.size(); ++i)
    EXPECT_NEAR(m200[i], 4 * 3.14159265358979 / 3 * 200 * critical * std::pow(r200[i], 3),
                1e-9 * m200[i] + 1e-12);
}

TEST_F(FofCommand, takes_values_with_units_to_be_without_h) {
  const std::string file = write("set.hdf5", true), given = folder_ / "given.hdf5";
  const auto parameter = [&](const char* name) {
    const hdf5::Handle catalogue = hdf5::open_file(given);
    return hdf5::read_attribute<double>(hdf5::open_group(catalogue, "Parameters", given), name, given).at(0);
  };
  grove(comm_, {"fof", file, "--length", "20 kpc", "--critical-density", "1000 Msun/kpc^3", "--box-size",
                "1 Mpc", "-o", given});
  comm_.barrier();
  EXPECT_NEAR(parameter("LinkingLength"), 0.02 * 0.7, 1e-12);          // Mpc/h
  EXPECT_NEAR(parameter("CriticalDensity"), 100 / (0.7 * 0.7), 1e-9);  // 1e10 Msun/h / (Mpc/h)^3
  comm_.barrier();
  expect_fof_error("--overwrite", {"fof", file, "--length", "0.02", "-o", given});
  EXPECT_NEAR(parameter("LinkingLength"), 0.02 * 0.7, 1e-12);
  comm_.barrier();
  grove(comm_, {"fof", file, "--length", "0.02", "-o", given, "--overwrite"});
  comm_.barrier();
  EXPECT_DOUBLE_EQ(parameter("LinkingLength"), 0.02);
}

/// Without a box the mass of all types tells the volume, in which those that are linked have their spacing.
TEST_F(FofCommand, counts_spacings_of_the_types_that_are_linked) {
  const std::string file = write("open.hdf5", true, 0), path = folder_ / "stars.hdf5";
  grove(comm_, {"fof", file, "--types", "4", "-o", path});
  comm_.barrier();
  const hdf5::Handle catalogue = hdf5::open_file(path);
  const double length =
      hdf5::read_attribute<double>(hdf5::open_group(catalogue, "Parameters", path), "LinkingLength", path)
          .at(0);
  // 4000 particles of 0.007 x 10^10 Msun/h (knows_comoving_units) at 0.3 of the critical density of today, of
  // which 500 are of type 4.
  const double volume = 4000 * 0.007 / (0.3 * 27.7454);
  EXPECT_NEAR(length / (0.2 * std::cbrt(volume / 500)), 1, 1e-5);
  expect_fof_error("is a catalogue of groups", {"fof", path});
}

TEST_F(FofCommand, writes_a_catalogue_without_groups) {
  const std::string file = write("set.hdf5", false);
  grove(comm_, {"fof", file, "--length", "1e-9 Mpc", "--share-gpu"});  // which allows nothing without a GPU
  comm_.barrier();
  for (const auto& [name, column] : columns_of(folder_ / "set_fof.hdf5"))
    EXPECT_EQ(column.shape[0], 0u) << name;
}

TEST_F(FofCommand, says_what_is_wrong) {
  const std::string file = write("set.hdf5", false), open = write("open.hdf5", false, 0);
  expect_fof_error("not less than half the edge of the periodic box", {"fof", file, "--length", "0.6 Mpc"});
  expect_fof_error("not less than half the edge of the periodic box", {"fof", file, "--spacings", "8"});
  expect_fof_error("must be positive", {"fof", file, "--length", "0 Mpc"});
  expect_fof_error("must be positive", {"fof", file, "--spacings=-1"});
  expect_fof_error("states neither a box nor a cosmology", {"fof", open});
  expect_fof_error("--critical-density -1", {"fof", file, "--critical-density=-1"});
  expect_fof_error("no particles of these types", {"fof", file, "--types", "2"});
  expect_fof_error("--share-gpu is for GPUs", {"fof", file, "--backend", "kokkos", "--share-gpu"});
  expect_fof_error("--box-size: -1", {"fof", file, "--box-size=-1"});
  expect_fof_error("whose edge is 1 in its units", {"fof", file, "--box-size", "2"});
}

}  // namespace
}  // namespace grove
