#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/change_hdf5.hpp"
#include "support/foreign_formats.hpp"

namespace grove {
namespace {

using testing::GadgetStyle;
using testing::TestFolder;

constexpr Count n = 300;

struct ById {
  ParticleId id;
  Vec3d position, velocity;
  double mass;
  int type;
  friend bool operator==(const ById&, const ById&) = default;
};
static_assert(std::is_trivially_copyable_v<ById>);

/// The particles of all ranks in the order of their ids.
std::vector<ById> all_by_id(const Communicator& comm, const Particles& particles) {
  std::vector<ById> mine;
  for (std::size_t i = 0; i < particles.size(); ++i)
    mine.push_back({particles.id[i], particles.position[i], particles.velocity[i], particles.mass[i],
                    particles.type[i]});
  std::vector<ById> all = comm.all_gather_arrays(std::span<const ById>(mine));
  std::sort(all.begin(), all.end(), [](const ById& a, const ById& b) { return a.id < b.id; });
  return all;
}

class Formats : public ::testing::Test {
 protected:
  const Communicator comm{MPI_COMM_WORLD};
  const Communicator alone{comm.split(comm.rank())};
  const TestFolder folder{comm, "formats"};

  void expect_equal(const Snapshot& found, const Particles& expected, SnapshotFormat format, bool swapped) {
    EXPECT_EQ(found.header.format, format);
    EXPECT_EQ(found.header.byte_swapped, swapped);
    EXPECT_EQ(found.header.time, 2.5);
    EXPECT_FALSE(found.header.file_units);
    const Count most = comm.max(static_cast<Count>(found.particles.size()));
    EXPECT_LE(most, n / comm.size() + 3) << "each rank reads its share of each of the three types";
    EXPECT_TRUE(all_by_id(comm, found.particles) == all_by_id(alone, expected));
  }
};

TEST_F(Formats, gadget_binary_in_every_style) {
  for (const int format : {1, 2})
    for (const bool swapped : {false, true})
      for (const bool wide_numbers : {false, true})
        for (const bool wide_ids : {false, true})
          for (const bool mass_table : {false, true}) {
            const GadgetStyle style{format, swapped, wide_numbers, wide_ids, true, mass_table};
            const Particles particles = testing::foreign_particles(alone, n, mass_table);
            testing::put(comm, folder / "a.dat",
                         [&] { return testing::gadget_file(particles, style, 2.5, 0, particles.size()); });
            expect_equal(read_snapshot(comm, folder / "a.dat"), particles,
                         format == 1 ? SnapshotFormat::gadget1 : SnapshotFormat::gadget2, swapped);
            comm.barrier();
          }
}

TEST_F(Formats, gadget_binary_in_several_files) {
  const Particles particles = testing::foreign_particles(alone, n);
  const std::size_t cuts[] = {0, 50, 51, particles.size()};
  GadgetStyle style;
  style.files = 3;
  for (std::size_t f = 0; f < 3; ++f)
    testing::put(comm, folder / ("snap_007." + std::to_string(f)),
                 [&] { return testing::gadget_file(particles, style, 2.5, cuts[f], cuts[f + 1]); });
  expect_equal(read_snapshot(comm, folder / "snap_007.2"), particles, SnapshotFormat::gadget1, false);
}

/// GADGET-2's convention by hand: units over h, velocities dx/dt sqrt(a). In canonical momenta a^2 dx/dt a
/// factor of 1/8 at a = 1/4. h is a power of two, so that no number is rounded.
TEST_F(Formats, gadget_binary_of_expanding_space) {
  const double h = 0.5;
  for (const bool swapped : {false, true}) {
    SCOPED_TRACE(swapped);
    const Particles particles = testing::foreign_particles(alone, n);
    const GadgetStyle style{.swapped = swapped, .redshift = 3, .box_size = 1000, .h = h};
    testing::put(comm, folder / "a.dat",
                 [&] { return testing::gadget_file(particles, style, 0.25, 0, particles.size()); });
    Particles expected = particles;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected.position[i] *= 1 / h;
      expected.velocity[i] *= 0.125;
      expected.mass[i] /= h;
    }
    const Snapshot found = read_snapshot(comm, folder / "a.dat", {.convert_to = Units::galactic(), .h = h});
    EXPECT_EQ(found.header.byte_swapped, swapped);
    EXPECT_EQ(found.header.time, 0.25) << "the scale factor";
    EXPECT_EQ(found.header.box_size, (Vec3d{2000, 2000, 2000}));
    EXPECT_TRUE(all_by_id(comm, found.particles) == all_by_id(alone, expected));
    EXPECT_THROW(read_snapshot(comm, folder / "a.dat"), InputError) << "static space";
    EXPECT_THROW(read_snapshot(comm, folder / "a.dat", {.h = 0.7}), InputError) << "another h";
    comm.barrier();
  }
}

TEST_F(Formats, mass_table_of_a_type_that_a_file_lacks_does_not_count) {
  // Type 4, with a mass each, stands in the second file alone; the first has a mass for it in its table.
  const Particles particles = testing::foreign_particles(alone, n);
  const auto first_of_4 = static_cast<std::size_t>(
      std::find(particles.type.begin(), particles.type.end(), 4) - particles.type.begin());
  GadgetStyle style;
  style.files = 2;
  std::string first = testing::gadget_file(particles, style, 2.5, 0, first_of_4);
  const double mass = 3;
  std::memcpy(first.data() + 4 + 24 + 8 * 4, &mass, sizeof(mass));
  testing::put(comm, folder / "a.0", [&] { return first; });
  testing::put(comm, folder / "a.1",
               [&] { return testing::gadget_file(particles, style, 2.5, first_of_4, particles.size()); });
  for (const char* name : {"a.0", "a.1"})
    expect_equal(read_snapshot(comm, folder / name), particles, SnapshotFormat::gadget1, false);
}

TEST_F(Formats, single_file_without_total_counts_has_its_own) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {});
  if (comm.is_master()) testing::set_attribute(folder / "a.hdf5", "Header", "NumPart_Total", 0);
  comm.barrier();
  EXPECT_EQ(read_snapshot(comm, folder / "a.hdf5").header.count(), n);
}

TEST_F(Formats, missing_ids_are_file_order_from_one) {
  Particles particles = testing::foreign_particles(alone, n);
  GadgetStyle style;
  style.format = 2;
  style.ids = false;
  testing::put(comm, folder / "a.dat",
               [&] { return testing::gadget_file(particles, style, 2.5, 0, particles.size()); });
  for (std::size_t i = 0; i < particles.size(); ++i) particles.id[i] = i + 1;
  const Snapshot found = read_snapshot(comm, folder / "a.dat");
  EXPECT_FALSE(found.header.has_ids);
  expect_equal(found, particles, SnapshotFormat::gadget2, false);
}

TEST_F(Formats, tipsy_in_both_byte_orders_and_header_lengths) {
  Particles particles = testing::foreign_particles(alone, n);
  std::vector<std::uint32_t> known;
  for (std::uint32_t i = 0; i < particles.size(); ++i)
    if (particles.type[i] != 2) known.push_back(i);
  particles.reorder(known);
  for (std::size_t i = 0; i < particles.size(); ++i) particles.id[i] = i + 1;
  for (const bool swapped : {false, true})
    for (const bool padded : {false, true}) {
      testing::put(comm, folder / "a.tipsy",
                   [&] { return testing::tipsy_file(particles, swapped, padded, 2.5); });
      expect_equal(read_snapshot(comm, folder / "a.tipsy"), particles, SnapshotFormat::tipsy, swapped);
      comm.barrier();
    }
}

TEST_F(Formats, units_of_formats_without_units_are_given) {
  const Particles particles = testing::foreign_particles(alone, n);
  testing::put(comm, folder / "a.dat",
               [&] { return testing::gadget_file(particles, {}, 2.5, 0, particles.size()); });
  EXPECT_EQ(read_snapshot(comm, folder / "a.dat").header.units, Units::galactic());
  const ReadOptions options{.unstated = Units::dimensionless(), .convert_to = Units::dimensionless()};
  EXPECT_EQ(read_snapshot(comm, folder / "a.dat", options).header.units, Units::dimensionless());
}

}  // namespace
}  // namespace grove
