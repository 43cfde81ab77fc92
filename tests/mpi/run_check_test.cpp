// `grove run --check`: what a run would take, without running it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "io/snapshot.hpp"
#include "support/foreign_formats.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

class RunCheck : public ::testing::Test {
 protected:
  std::string write_parameters(const std::string& particles, const std::string& more = "") {
    testing::put(comm, folder / "run.yml", [&] {
      return fmt::format(
          "units: {{system: none}}\ninitial_conditions: {{{}}}\ngravity: {{softening: 0.1}}\n"
          "time: {{begin: 0, end: 1, step: 0.01}}\noutput: {{folder: {}, every: 0.1, render: false{}}}\n",
          particles, folder / "output", more);
    });
    return folder / "run.yml";
  }
  /// What is printed; error: what the InputError says, if there is one.
  std::string told(const std::string& file, std::string* error = nullptr) {
    ::testing::internal::CaptureStdout();
    std::string message;
    try {
      testing::grove(comm, {"run", file, "--check", "--backend", "kokkos"});
    } catch (const InputError& e) {
      message = e.what();
    }
    std::fflush(stdout);
    const std::string text = comm.broadcast(::testing::internal::GetCapturedStdout());
    EXPECT_EQ(message.empty(), error == nullptr) << message;
    if (error) *error = message;
    return text;
  }
  static void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  }

  const Communicator comm{MPI_COMM_WORLD};
  const testing::TestFolder folder{comm, "run-check"};
};

TEST_F(RunCheck, tells_what_a_run_takes_and_writes_nothing) {
  // 11 snapshots of 64 bytes a particle, 3 checkpoints of 110, 100 longest steps with 2000 bytes of logs:
  // (704 + 330) 1e5 + 2e5 = 104 MB. Memory: 201 bytes a particle and 30 MB for each rank.
  const std::string text = told(write_parameters("model: plummer, n: 100000"));
  expect_parts(text, {"particles    100000\n", "steps        100 longest ones, 11 snapshots",
                      "disk         104 MB", fmt::format("memory       {:.0f} MB", 20.1 + 30 * comm.size()),
                      "MB are available", "s for forces on all particles",
                      fmt::format("from {} of a Plummer", std::min(100000, 20000 * comm.size()))});
  EXPECT_EQ(folder.files(), std::vector<std::string>{"run.yml"});
}

TEST_F(RunCheck, says_what_would_fit) {
  std::string error;
  const std::string text = told(write_parameters("model: plummer, n: 1e12"), &error);
  expect_parts(text, {"DOES NOT FIT"});
  expect_parts(error, {"memory: ", "MB are needed", "particles fit on", "use more hosts",
                       "disk: ", "there is room for"});
}

TEST_F(RunCheck, looks_into_the_files_of_particles) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, 1000),
                 {.units = Units::dimensionless()});
  const std::string file = write_parameters("file: " + folder / "a.hdf5", ", types: [4]");
  // 142 of type 4, those whose id is a multiple of 7, are written: 11 * 64 * 142 + 330 * 1000 + 2e5 = 0.63
  // MB.
  expect_parts(told(file), {"particles    1000\n", "disk         1 MB"});
  if (comm.is_master()) {
    std::string bytes = testing::bytes_of(folder / "a.hdf5");
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    std::ofstream(folder / "a.hdf5", std::ios::binary) << bytes;
  }
  comm.barrier();
  std::string error;
  told(file, &error);
  expect_parts(error, {"a.hdf5: damaged"});
}

TEST_F(RunCheck, refuses_what_a_run_would_refuse) {
  std::string error;
  const std::string file = write_parameters("model: plummer, n: 1000", "");
  if (comm.is_master()) std::filesystem::create_directories(folder / "output");
  if (comm.is_master()) std::ofstream(folder / "output/energy.csv") << "step";
  comm.barrier();
  told(file, &error);
  expect_parts(error, {"holds the results of an earlier run"});
  comm.barrier();
  if (comm.is_master())
    std::filesystem::remove_all(folder / "output"), std::ofstream(folder / "output") << "a file";
  comm.barrier();
  told(file, &error);
  expect_parts(error, {"output: the output folder cannot be made"});
}

// The formula of a snapshot's length is what is written, but for headers of some kilobytes.
TEST_F(RunCheck, knows_how_long_snapshots_are) {
  constexpr Count n = 5000;
  for (const auto& fields :
       {std::vector<std::string>{}, std::vector<std::string>{"Coordinates", "Potential"}}) {
    const WriteOptions options{.fields = fields};
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), options);
    const auto found = static_cast<double>(std::filesystem::file_size(folder / "a.hdf5"));
    EXPECT_NEAR(found, static_cast<double>(n * bytes_per_particle(options)), 30000);
    comm.barrier();
  }
}

TEST(Memory, available_is_no_more_than_there_is) {
  const double available = available_memory();
  EXPECT_GT(available, 0);
  EXPECT_LT(available, 1e15);
}

}  // namespace
}  // namespace grove
