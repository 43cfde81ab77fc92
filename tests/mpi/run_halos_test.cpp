// Catalogues of halos that a run writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "io/hdf5.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

/// The numbers of a dataset of whole numbers or of doubles, as 64 bits each.
std::vector<std::uint64_t> numbers_of(const std::string& path, const char* group_name, const char* name) {
  const hdf5::Handle file = hdf5::open_file(path), group = hdf5::open_group(file, group_name, path),
                     dataset = hdf5::open_dataset(group, name, path);
  const hdf5::DatasetInfo info = hdf5::info(dataset, path);
  std::size_t count = 1;
  for (const hsize_t extent : info.shape) count *= extent;
  std::vector<std::uint64_t> numbers(count);
  hdf5::read_rows(dataset, info.is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, 0, info.shape[0],
                  numbers.data(), path);
  return numbers;
}

TEST(RunHalos, are_those_of_the_snapshots) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "run-halos");
  for (const bool is_periodic : {false, true}) {
    const std::string text = fmt::format(
        "units: {{system: none}}\n"
        "initial_conditions: {{model: plummer, n: 2000}}\n"
        "{}gravity: {{softening: 0.05}}\n"
        "time: {{end: 0.02, step: 0.01}}\n"
        "output: {{folder: {}, render: false, times: [0.013, 0.02], fof: true, fof_length: 0.2, files: 2}}\n",
        is_periodic ? "box: {periodic: true, size: 200}\n" : "", folder.path());
    const Parameters parameters = parse_parameters(text, "test", {});
    InitialState state = initial_state(comm, parameters);
    Simulation(comm, parameters, std::move(state.particles), state.time).run();
    for (const int i : {0, 1}) {
      const std::string of_run = folder / fmt::format("fof_tab_{:03}.hdf5", i), again = folder / "again.hdf5";
      testing::grove(comm, {"fof", folder / fmt::format("snapshot_{:03}.0.hdf5", i), "--length", "0.2", "-o",
                            again, "--overwrite"});
      comm.barrier();
      EXPECT_GE(numbers_of(of_run, "Group", "GroupLen").size(), 1u);
      for (const char* name : {"GroupLen", "GroupPos", "GroupVel", "GroupVmax", "GroupIDMostbound"})
        EXPECT_EQ(numbers_of(of_run, "Group", name), numbers_of(again, "Group", name)) << name;
      EXPECT_EQ(numbers_of(of_run, "IDs", "ID"), numbers_of(again, "IDs", "ID"));
      comm.barrier();
    }
  }
}

}  // namespace
}  // namespace grove
