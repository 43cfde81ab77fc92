// Snapshots as h5py sees them, a reader that shares no code with Grove.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "io/snapshot.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

TEST(H5py, opens_snapshots_with_right_counts_masses_and_units) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "h5py");
  constexpr Count n = 500;
  for (const int files : {1, 3}) {
    const WriteOptions options{.time = 1.25,
                               .fields = {"Coordinates", "Velocities", "Masses", "Acceleration", "Potential"},
                               .files = files};
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), options);
    if (comm.is_master()) {
      // An empty environment: h5py must not take part in this MPI program.
      std::string command =
          "env -i /usr/bin/python3 " GROVE_SOURCE_DIR "/tests/support/check_snapshot.py 500";
      for (const std::string& file : snapshot_files(folder / "a.hdf5", files)) command += " " + file;
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    comm.barrier();
  }
}

}  // namespace
}  // namespace grove
