// Snapshots with one byte changed, or cut short: each is refused, or what is read is what was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/change_hdf5.hpp"
#include "support/foreign_formats.hpp"

namespace grove {
namespace {

constexpr Count n = 300;
constexpr std::size_t trailer_bytes = 32, mark_bytes = 16;  // see docs/formats.md

bool is_same(const Snapshot& a, const Snapshot& b) {
  const SnapshotHeader &x = a.header, &y = b.header;
  return x.counts == y.counts && x.mass_table == y.mass_table && x.time == y.time &&
         x.redshift == y.redshift && x.file_units == y.file_units && x.units == y.units &&
         x.has_ids == y.has_ids && x.leaf_size == y.leaf_size &&
         a.particles.position == b.particles.position && a.particles.velocity == b.particles.velocity &&
         a.particles.mass == b.particles.mass && a.particles.id == b.particles.id &&
         a.particles.type == b.particles.type;
}

enum class Outcome { refused, same, different };

class DamagedSnapshot : public ::testing::Test {
 protected:
  DamagedSnapshot() {
    write_snapshot(comm, folder / "good.hdf5", testing::scattered_particles(comm, n),
                   {.time = 1.5, .leaf_size = 64});
    good = read_snapshot(comm, folder / "good.hdf5");
    bytes = testing::bytes_of(folder / "good.hdf5");
  }

  /// The result of reading these bytes, the same on all ranks; anything but an InputError on all of them
  /// fails.
  Outcome read(const std::string& damaged) {
    testing::put(comm, folder / "bad.hdf5", [&] { return damaged; });
    auto outcome = Outcome::refused;
    try {
      outcome = is_same(good, read_snapshot(comm, folder / "bad.hdf5")) ? Outcome::same : Outcome::different;
    } catch (const Agreed<InputError>&) {
    }
    return static_cast<Outcome>(comm.max(static_cast<int>(outcome)));
  }

  std::string flipped(const std::string& text, std::size_t at) {
    std::string damaged = text;
    const auto change = static_cast<unsigned char>(1 + random() % 255);
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ change);
    return damaged;
  }

  const Communicator comm{MPI_COMM_WORLD};
  const testing::TestFolder folder{comm, "damaged"};
  Snapshot good;
  std::string bytes;
  std::mt19937_64 random{1};
};

TEST_F(DamagedSnapshot, flipped_bytes_are_found) {
  EXPECT_EQ(read(bytes), Outcome::same);
  const std::size_t mark = bytes.size() - trailer_bytes;
  // 200 anywhere, and all of the trailer. Without the mark of the trailer a file has no checksum: it is read
  // as any other program's would be, and holds what was written.
  for (std::size_t i = 0; i < 200 + trailer_bytes; ++i) {
    const std::size_t at = i < 200 ? random() % bytes.size() : mark + i - 200;
    const bool is_in_mark = at >= mark && at < mark + mark_bytes;
    EXPECT_EQ(read(flipped(bytes, at)), is_in_mark ? Outcome::same : Outcome::refused) << "byte " << at;
  }
}

TEST_F(DamagedSnapshot, truncations_are_found) {
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_EQ(read(bytes.substr(0, random() % (bytes.size() - trailer_bytes))), Outcome::refused);
  // A part of the trailer is missing: its first eight bytes tell that there was more.
  for (const std::size_t missing : {std::size_t{1}, trailer_bytes / 2, trailer_bytes - 8})
    EXPECT_EQ(read(bytes.substr(0, bytes.size() - missing)), Outcome::refused);
  // All of it, or almost: the content is complete.
  for (const std::size_t missing : {trailer_bytes - 7, trailer_bytes})
    EXPECT_EQ(read(bytes.substr(0, bytes.size() - missing)), Outcome::same);
  EXPECT_EQ(read(bytes.substr(0, bytes.size() - trailer_bytes - 1)), Outcome::refused);
}

// As another program's would be: no checksum says what changed, but nothing crashes and nothing hangs.
TEST_F(DamagedSnapshot, without_checksum_ends_no_rank) {
  const std::string foreign = bytes.substr(0, bytes.size() - trailer_bytes);
  int unnoticed = 0;
  for (int i = 0; i < 200; ++i)
    unnoticed += read(flipped(foreign, random() % foreign.size())) == Outcome::different;
  EXPECT_GT(unnoticed, 0) << "else no checksum would be needed";
}

TEST_F(DamagedSnapshot, checksum_goes_when_another_program_changes_the_file) {
  const auto has_checksum = [&] { return read_snapshot(comm, folder / "good.hdf5").header.has_checksum; };
  EXPECT_TRUE(has_checksum());
  comm.barrier();  // HDF5 does not open for writing what another rank has not closed yet
  if (comm.is_master()) testing::set_attribute(folder / "good.hdf5", "Header", "Time", 2.5);
  comm.barrier();
  EXPECT_FALSE(has_checksum());
  EXPECT_EQ(read_snapshot(comm, folder / "good.hdf5").header.time, 2.5);
}

}  // namespace
}  // namespace grove
