// HDF5 files as other programs write them: what nobody has written, virtual datasets, SWIFT's units and
// boxes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/errors.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "physics/run_fixture.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

constexpr int n = 100;

class ForeignHdf5 : public ::testing::Test {
 protected:
  ForeignHdf5() {
    // An empty environment: h5py must not take part in this MPI program.
    const std::string command =
        "env -i /usr/bin/python3 " GROVE_SOURCE_DIR "/tests/support/make_foreign_hdf5.py " + folder.path();
    EXPECT_EQ(comm.is_master() ? std::system(command.c_str()) : 0, 0) << command;
    comm.barrier();
  }

  Particles read(const std::string& name) const {
    return testing::gathered_by_id(comm, read_snapshot(comm, folder / name).particles);
  }
  SnapshotHeader header(const std::string& name) const { return read_snapshot_header(comm, folder / name); }
  void expect_error(const std::string& name, const std::string& part) const {
    try {
      read_snapshot(comm, folder / name);
      ADD_FAILURE() << name << " was read";
    } catch (const Agreed<InputError>& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  /// The output of `grove validate`.
  std::string validated(const std::string& name, bool is_valid) const {
    bool passed = true;
    ::testing::internal::CaptureStdout();
    try {
      testing::grove(comm, {"validate", folder / name});
    } catch (const Agreed<std::runtime_error>&) {
      passed = false;
    }
    std::fflush(stdout);
    const std::string text = comm.broadcast(::testing::internal::GetCapturedStdout());
    EXPECT_EQ(passed, is_valid) << text;
    return text;
  }

  const Communicator comm{MPI_COMM_WORLD};
  const testing::TestFolder folder{comm, "foreign-hdf5"};
};

TEST_F(ForeignHdf5, what_was_never_written_is_what_it_is_filled_with) {
  for (const auto& [name, value] :
       {std::pair{"cold.hdf5", 0.0}, std::pair{"cold-chunked.hdf5", 0.0}, std::pair{"warm.hdf5", 0.25}}) {
    const Particles all = read(name);
    ASSERT_EQ(all.size(), std::size_t{n});
    for (const Vec3d& v : all.velocity) EXPECT_EQ(v, (Vec3d{value, value, value})) << name;
    EXPECT_EQ(all.mass[0], 0.5);
  }
  expect_error("unfilled.hdf5", "PartType1/Velocities was never written");
}

TEST_F(ForeignHdf5, virtual_datasets_are_those_that_they_map) {
  const Particles all = read("virtual.hdf5");
  ASSERT_EQ(all.size(), std::size_t{n});
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all.id[i], i + 1);
    EXPECT_DOUBLE_EQ(all.velocity[i].z, (3 * static_cast<double>(i) + 2.5) / (3 * n));
  }
  comm.barrier();
  // HDF5 would give zeros.
  if (comm.is_master()) std::filesystem::remove(folder / "torn-piece1.hdf5");
  comm.barrier();
  expect_error("torn.hdf5", "mapped to " + folder / "torn-piece1.hdf5" + ", which is not there");
}

TEST_F(ForeignHdf5, units_of_swift) {
  for (const char* name : {"swift.hdf5", "both.hdf5"}) {
    const SnapshotHeader found = header(name);
    ASSERT_TRUE(found.file_units);
    EXPECT_EQ(found.file_units->length_cm, 3e21);
    EXPECT_EQ(found.file_units->mass_g, 2e43);
    EXPECT_EQ(found.file_units->velocity_cm_s, 1e5);
    EXPECT_EQ(found.box_size, (Vec3d{10, 20, 30}));
    EXPECT_EQ(found.time, 0.5);
  }
  EXPECT_EQ(read("swift.hdf5").mass[0], 0.5) << "DynamicalMasses";
  expect_error("without-L.hdf5", "group Units has no attribute 'Unit length in cgs (U_L)'");
  expect_error("without-M.hdf5", "group Units has no attribute 'Unit mass in cgs (U_M)'");
  expect_error("without-t.hdf5", "group Units has no attribute 'Unit time in cgs (U_t)'");
}

/// Its lengths and masses have no h, its velocities are a dx/dt: momenta a^2 dx/dt are a quarter of these at
/// a = 1/4.
TEST_F(ForeignHdf5, swift_in_expanding_space) {
  const ReadOptions of_run{.convert_to = header("swift.hdf5").units, .h = 0.7};
  const Snapshot found = read_snapshot(comm, folder / "comoving.hdf5", of_run);
  EXPECT_EQ(found.header.time, 0.25) << "the scale factor";
  EXPECT_EQ(found.header.box_size, (Vec3d{10, 20, 30}));
  const Particles now = testing::gathered_by_id(comm, found.particles), then = read("swift.hdf5");
  ASSERT_EQ(now.size(), then.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(now.position[i], then.position[i]) << i;
    EXPECT_EQ(now.velocity[i], then.velocity[i] * 0.25) << i;
    EXPECT_EQ(now.mass[i], then.mass[i]) << i;
  }
  expect_error("comoving.hdf5", "Cosmology/Cosmological run is 1");
}

TEST_F(ForeignHdf5, boxes_of_three_edges) {
  const std::string inside = validated("swift.hdf5", true), outside = validated("outside.hdf5", false),
                    open = validated("open.hdf5", true);
  EXPECT_NE(inside.find("units      stated"), std::string::npos) << inside;
  EXPECT_NE(inside.find("all particles inside, from 0 to (10, 20, 30)"), std::string::npos) << inside;
  // The last one, at 299.5 / 300 of the edges, is a whole unit further.
  EXPECT_NE(outside.find("is outside of the box from 0 to (10, 20, 30)"), std::string::npos) << outside;
  EXPECT_NE(open.find("box        warning: "), std::string::npos) << open;
  expect_error("two-edges.hdf5", "Header/BoxSize has 2 numbers; expected 1 or 3");
  try {
    resolve_parameters(comm,
                       "initial_conditions: {file: " + folder / "swift.hdf5" +
                           "}\ngravity: {softening: 0.1}\ntime: {end: 1, step: 1}\nbox: {periodic: true}\n",
                       "run.yml", {});
    ADD_FAILURE() << "a periodic box that is no cube";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("which is no cube"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace grove
