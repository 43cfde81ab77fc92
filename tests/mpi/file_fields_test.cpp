// Fields that only some types have: files neither need them for other types nor are they read for these.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/hdf5.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"
#include "support/foreign_formats.hpp"

namespace grove {
namespace {

using testing::GadgetStyle;
using testing::TestFolder;

constexpr int with = 2, without = 1;  ///< types that have velocities, and have none
constexpr std::uint8_t some_types = 1 << with;

constexpr auto velocity_of_some = [] {
  auto field = fields::velocity;
  field.info.types = some_types;
  return field;
}();
/// Nothing is read into it here.
constexpr Field<double> energy_of_some{
    &Particles::mass, {"InternalEnergy", dimension::potential, some_types, true, true, true, true, true}};

constexpr auto rows = [](auto&& visit) {
  visit(fields::position);
  visit(velocity_of_some);
  visit(fields::mass);
  visit(fields::id);
};
constexpr auto rows_with_energy = [](auto&& visit) {
  for_each_field(visit);
  visit(energy_of_some);
};

class FileFields : public ::testing::Test {
 protected:
  const Communicator comm{MPI_COMM_WORLD};
  const Communicator alone{comm.split(comm.rank())};
  const TestFolder folder{comm, "file-fields"};
  const Particles all = testing::foreign_particles(alone, 120);

  /// A file of HDF5 without the velocities of a type.
  void write_without_velocities(int type) {
    const std::string path = own();
    write_snapshot(alone, path, all, {});
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, path);
    const std::string name = "PartType" + std::to_string(type) + "/Velocities";
    hdf5::check(H5Ldelete(file, name.c_str(), H5P_DEFAULT), path);
  }
  /// Each rank has a file of its own.
  std::string own() const { return folder / ("a" + std::to_string(comm.rank())); }

  /// The particles of a type, as a file gives them.
  template <class Rows>
  Particles particles_of(SnapshotFile& file, int type, const Rows& for_each_row) {
    Particles particles;
    const Count count = file.header().counts[static_cast<std::size_t>(type)];
    particles.reset(static_cast<std::size_t>(count));
    read_fields(file, type, 0, count, particles, 0, for_each_row);
    return particles;
  }

  void expect_velocities_of_some(SnapshotFile& file) {
    for (const int type : {with, without, 4}) {
      const Particles found = particles_of(file, type, rows);
      ASSERT_GT(found.size(), 0u);
      std::size_t next = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all.type[i] != type) continue;
        const Vec3d expected = type == with ? all.velocity[i] : Vec3d{0, 0, 0};
        EXPECT_EQ(found.velocity[next], expected);
        EXPECT_EQ(found.position[next], all.position[i]);
        EXPECT_EQ(found.id[next], all.id[i]);
        EXPECT_EQ(found.mass[next++], all.mass[i]);
      }
      EXPECT_EQ(next, found.size());
    }
  }

  template <class Rows>
  std::string refusal(const Rows& for_each_row) {
    try {
      open_snapshot_file(own(), file_fields_of(for_each_row));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(FileFields, are_not_needed_for_types_that_have_them_not) {
  write_without_velocities(without);
  const auto file = open_snapshot_file(own(), file_fields_of(rows));
  expect_velocities_of_some(*file);
  EXPECT_FALSE(file->has(without, "Velocities"));
  EXPECT_NE(refusal([](auto&& visit) { for_each_field(visit); }).find("no dataset PartType1/Velocities"),
            std::string::npos);
}

TEST_F(FileFields, are_needed_for_types_that_have_them) {
  write_without_velocities(with);
  EXPECT_NE(refusal(rows).find("no dataset PartType2/Velocities"), std::string::npos);
}

TEST_F(FileFields, of_the_gadget_binary_formats_have_blocks_of_their_types) {
  for (const int format : {1, 2}) {
    GadgetStyle style;
    style.format = format;
    style.velocity_types = some_types;
    testing::put(alone, own(), [&] { return testing::gadget_file(all, style, 0, 0, all.size()); });
    expect_velocities_of_some(*open_snapshot_file(own(), file_fields_of(rows)));
    EXPECT_NE(refusal([](auto&& visit) { for_each_field(visit); }), "");
  }
}

TEST_F(FileFields, are_refused_where_the_format_has_no_place_for_them) {
  testing::put(alone, own(), [&] { return testing::gadget_file(all, {}, 0, 0, all.size()); });
  EXPECT_NE(refusal(rows_with_energy).find("InternalEnergy"), std::string::npos) << refusal(rows_with_energy);
  write_snapshot(alone, own(), all, {});
  EXPECT_NE(refusal(rows_with_energy).find("no dataset PartType2/InternalEnergy"), std::string::npos);
}

}  // namespace
}  // namespace grove
