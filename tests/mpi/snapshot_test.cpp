#include "io/snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/hdf5.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::scattered_particles;
using testing::TestFolder;

constexpr Count n = 1000;

/// Every particle of this rank must be what its id says, and all ids from `step` to n * step be there once.
void expect_complete(const Communicator& comm, const Particles& found, ParticleId step = 1,
                     double length = 1) {
  Particles expected;
  expected.resize(1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    testing::set_particle(expected, 0, found.id[i]);
    ASSERT_EQ(found.position[i], length * expected.position[0]) << found.id[i];
    ASSERT_EQ(found.velocity[i], expected.velocity[0]);
    ASSERT_EQ(found.mass[i], expected.mass[0]);
    ASSERT_EQ(found.type[i], expected.type[0]);
    ASSERT_EQ(found.work[i], 0u);
  }
  const std::vector<ParticleId> ids = comm.all_gather_arrays(std::span<const ParticleId>(found.id));
  const std::set<ParticleId> different(ids.begin(), ids.end());
  ASSERT_EQ(ids.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(different.size(), ids.size());
  EXPECT_EQ(*different.begin(), step);
  EXPECT_EQ(*different.rbegin(), static_cast<ParticleId>(n) * step);
}

/// GADGET's convention by hand: lengths and masses in units over h, velocities p / a^(3/2).
TEST(Snapshot, of_expanding_space_is_comoving_as_gadget_has_it) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "comoving");
  const double a = 0.25, h = 0.7;
  const Cosmology cosmology{.omega_matter = 0.3, .omega_lambda = 0.65, .hubble = 0.07};
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n),
                 {.time = 3, .comoving = {{cosmology, h, a}}});
  const Snapshot plain = read_snapshot(comm, folder / "a.hdf5", {.comoving = true});
  EXPECT_EQ(plain.header.time, a);
  EXPECT_EQ(plain.header.redshift, 3);
  if (comm.is_master()) {
    EXPECT_EQ(plain.header.h, h);
    EXPECT_NE(plain.header.comoving, "");
  }
  const Snapshot back = read_snapshot(comm, folder / "a.hdf5", {.convert_to = Units::galactic(), .h = h});
  EXPECT_EQ(back.header.time, a);
  EXPECT_EQ(back.header.units, Units::galactic());
  Particles expected;
  expected.resize(1);
  ASSERT_EQ(plain.particles.size(), back.particles.size());
  // A product and a quotient: three roundings.
  const double rounding = 1e-15;
  for (std::size_t i = 0; i < back.particles.size(); ++i) {
    testing::set_particle(expected, 0, back.particles.id[i]);
    const Vec3d x = expected.position[0], p = expected.velocity[0];
    ASSERT_LE(norm(plain.particles.position[i] - h * x), rounding * norm(x));
    ASSERT_LE(norm(plain.particles.velocity[i] - 8 * p), 8 * rounding * norm(p));
    ASSERT_NEAR(plain.particles.mass[i], h * expected.mass[0], rounding * expected.mass[0]);
    ASSERT_LE(norm(back.particles.position[i] - x), rounding * norm(x));
    ASSERT_LE(norm(back.particles.velocity[i] - p), rounding * norm(p));
    ASSERT_NEAR(back.particles.mass[i], expected.mass[0], rounding * expected.mass[0]);
  }
  EXPECT_THROW(read_snapshot(comm, folder / "a.hdf5"), InputError) << "static space";
  EXPECT_THROW(read_snapshot(comm, folder / "a.hdf5", {.h = 0.68}), InputError) << "another h";
  write_snapshot(comm, folder / "b.hdf5", scattered_particles(comm, n), {});
  EXPECT_THROW(read_snapshot(comm, folder / "b.hdf5", {.h = h}), InputError) << "not comoving";
}

/// For pynbody: the edge among the parameters, too, and EAGLE's powers beside GADGET's.
TEST(Snapshot, of_expanding_space_tells_others_its_box_and_units) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "others");
  const std::string path = folder / "a.hdf5";
  const Cosmology cosmology{.omega_matter = 0.3, .omega_lambda = 0.65, .hubble = 0.07};
  write_snapshot(comm, path, scattered_particles(comm, n),
                 {.time = 3, .box = 40, .comoving = {{cosmology, 0.7, 0.25}}});
  const hdf5::Handle file = hdf5::open_file(path);
  const auto attribute = [&](hid_t object, const char* name) {
    return hdf5::read_attribute<double>(object, name, path).at(0);
  };
  for (const char* name : {"Header", "Parameters"}) {
    const hdf5::Handle group = hdf5::open_group(file, name, path);
    EXPECT_DOUBLE_EQ(attribute(group, "BoxSize"), 0.7 * 40) << name;
  }
  struct Powers {
    const char* name;
    double of_a, of_h;
  };
  for (const Powers& expected :
       {Powers{"Coordinates", 1, -1}, Powers{"Velocities", 0.5, 0}, Powers{"Masses", 0, -1}}) {
    const hdf5::Handle dataset = hdf5::open_dataset(file, std::string("PartType1/") + expected.name, path);
    for (const char* name : {"a_scaling", "aexp-scale-exponent"})
      EXPECT_EQ(attribute(dataset, name), expected.of_a) << expected.name;
    for (const char* name : {"h_scaling", "h-scale-exponent"})
      EXPECT_EQ(attribute(dataset, name), expected.of_h) << expected.name;
    EXPECT_EQ(attribute(dataset, "CGSConversionFactor"), attribute(dataset, "to_cgs"));
  }
}

TEST(Snapshot, round_trip_keeps_every_bit_and_the_header) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "round-trip");
  for (const int files : {1, 3}) {
    write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n),
                   {.time = 1.25, .files = files, .leaf_size = 64});
    const Snapshot read = read_snapshot(comm, files == 1 ? folder / "a.hdf5" : folder / "a.1.hdf5");
    expect_complete(comm, read.particles);
    EXPECT_EQ(read.header.time, 1.25);
    EXPECT_EQ(read.header.units, Units::galactic());
    EXPECT_EQ(read.header.leaf_size, 64);
    EXPECT_EQ(read.header.count(), n);
    EXPECT_EQ(read.header.counts[4], n / 7);
    EXPECT_EQ(read.header.files.size(), static_cast<std::size_t>(files));
  }
}

/// The chosen fields alone.
Particles part_of(const Particles& all, const FieldChoice& chosen) {
  Particles part;
  for_each_field([&](const auto& field) {
    if (chosen(field.info)) part.*field.array = all.*field.array;
  });
  return part;
}

TEST(Snapshot, is_written_from_the_fields_that_it_needs) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "part");
  const Particles all = scattered_particles(comm, n);
  for (const auto& fields : {std::vector<std::string>{}, std::vector<std::string>{"Potential"}}) {
    const WriteOptions options{.fields = fields};
    const Particles part = part_of(all, fields_read(options));
    EXPECT_EQ(part.rung.size(), 0u);
    EXPECT_TRUE(fields.empty() || part.mass.empty());
    write_snapshot(comm, folder / "all.hdf5", all, options);
    write_snapshot(comm, folder / "part.hdf5", part, options);
    EXPECT_EQ(testing::bytes_of(folder / "part.hdf5"), testing::bytes_of(folder / "all.hdf5"));
    comm.barrier();
  }
}

TEST(Snapshot, can_be_left_while_it_is_read) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "left");
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.time = 2});
  ReadOptions options;
  std::vector<std::string> calls;
  options.before_particles = [&](const SnapshotHeader& header) {
    calls.push_back("header");
    EXPECT_EQ(header.counts[4], n / 7);
    EXPECT_EQ(header.time, 2);
  };
  options.pause = [&] { calls.push_back("pause"); };
  expect_complete(comm, read_snapshot(comm, folder / "a.hdf5", options).particles);
  // One behind the checksum, one behind each part: each rank reads those of three types.
  EXPECT_EQ(calls, (std::vector<std::string>{"pause", "header", "pause", "pause", "pause"}));
  options.pause = [] { throw Agreed<Stopped>("enough"); };
  EXPECT_THROW(read_snapshot(comm, folder / "a.hdf5", options), Agreed<Stopped>);
}

// Types 1, 2 and 4 have 514, 343 and 143 of the 1000 particles.
TEST(Snapshot, can_be_sampled) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "sampled");
  const auto mass_of = [&](const Particles& particles) {
    const std::vector<double> all = comm.all_gather_arrays(std::span<const double>(particles.mass));
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  for (const int files : {1, 3}) {
    write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.files = files});
    const std::string path = files == 1 ? folder / "a.hdf5" : folder / "a.1.hdf5";
    const Particles all = read_snapshot(comm, path).particles;
    for (const Count most : {1, 100, 900, 1000}) {
      ReadOptions options;
      options.share = static_cast<double>(most) / n;
      const Particles some = read_snapshot(comm, path, options).particles;
      const auto ids = comm.all_gather_arrays(std::span<const ParticleId>(some.id));
      const std::set<ParticleId> different(ids.begin(), ids.end());
      EXPECT_EQ(different.size(), ids.size()) << "none twice";
      EXPECT_NEAR(static_cast<double>(ids.size()), static_cast<double>(most), 3) << "types";
      Particles expected;
      expected.resize(1);
      for (std::size_t i = 0; i < some.size(); ++i) {
        testing::set_particle(expected, 0, some.id[i]);
        ASSERT_EQ(some.position[i], expected.position[0]);
        ASSERT_EQ(some.type[i], expected.type[0]);
      }
      if (most >= 100) {
        EXPECT_NEAR(mass_of(some) / mass_of(all), 1, 0.2) << most;
      }
    }
  }
}

TEST(Snapshot, file_is_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "same-file");
  const Communicator alone = comm.split(comm.rank());
  for (const int files : {1, 2, 5}) {
    const WriteOptions options{.fields = {"Coordinates", "Acceleration", "Potential"}, .files = files};
    write_snapshot(comm, folder / "all.hdf5", scattered_particles(comm, n), options);
    if (comm.is_master()) {
      write_snapshot(alone, folder / "one.hdf5", scattered_particles(alone, n), options);
      const auto all = snapshot_files(folder / "all.hdf5", files),
                 one = snapshot_files(folder / "one.hdf5", files);
      for (std::size_t f = 0; f < all.size(); ++f)
        EXPECT_TRUE(testing::bytes_of(all[f]) == testing::bytes_of(one[f])) << all[f];
    }
    comm.barrier();
  }
}

TEST(Snapshot, is_read_by_fewer_ranks_than_wrote_it) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "fewer");
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.files = 2});
  const Communicator part = comm.split(comm.rank() % 2);
  expect_complete(part, read_snapshot(part, folder / "a.0.hdf5").particles);
}

TEST(Snapshot, keeps_ids_beyond_32_bits) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "ids");
  const ParticleId step = ParticleId{1} << 54;  // the last id is 1000 * 2^54, close to 2^64
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n, step), {});
  expect_complete(comm, read_snapshot(comm, folder / "a.hdf5").particles, step);
}

TEST(Snapshot, writes_chosen_types_only) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "types");
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.types = 1 << 4});
  const Snapshot read = read_snapshot(comm, folder / "a.hdf5");
  EXPECT_EQ(read.header.count(), n / 7);
  for (const ParticleId id : read.particles.id) EXPECT_EQ(id % 7, 0u);
}

TEST(Snapshot, converts_units) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "units");
  Units parsec = Units::galactic();
  parsec = Units::of(parsec.length_cm / 1024, parsec.mass_g, parsec.velocity_cm_s);
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.time = 3});
  const Snapshot read = read_snapshot(comm, folder / "a.hdf5", {.convert_to = parsec});
  expect_complete(comm, read.particles, 1, 1024);
  EXPECT_DOUBLE_EQ(read.header.time, 3 * 1024);
  EXPECT_EQ(read.header.units, parsec);
  EXPECT_THROW(read_snapshot(comm, folder / "a.hdf5", {.convert_to = Units::dimensionless()}), InputError);
}

TEST(Snapshot, dimensionless_units_survive) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "none");
  write_snapshot(comm, folder / "a.hdf5", scattered_particles(comm, n), {.units = Units::dimensionless()});
  EXPECT_EQ(read_snapshot(comm, folder / "a.hdf5").header.file_units, Units::dimensionless());
}

TEST(Snapshot, duplicate_ids_are_refused_and_nothing_is_left) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "duplicate");
  Particles particles = scattered_particles(comm, n);
  for (ParticleId& id : particles.id)
    if (id == 10) id = 13;  // both of type 1
  EXPECT_THROW(write_snapshot(comm, folder / "a.hdf5", particles, {}), InputError);
  comm.barrier();
  EXPECT_EQ(folder.files(), std::vector<std::string>{});
}

TEST(Snapshot, output_folder_that_cannot_be_written_is_named) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "unwritable");
  for (const char* name : {"missing/a.hdf5", "file/a.hdf5"}) {
    if (comm.is_master()) std::ofstream(folder / "file") << "not a folder";
    comm.barrier();
    try {
      write_snapshot(comm, folder / name, scattered_particles(comm, n), {});
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(folder.path()), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("folder"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace grove
