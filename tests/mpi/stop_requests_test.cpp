#include "run/guard/stop_requests.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "io/snapshot.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::TestFolder;

TEST(StopRequests, of_any_rank_stop_all) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-signals");
  const struct {
    int signal;
    const char* name;
  } signals[] = {{SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}, {SIGINT, "SIGINT"}};
  for (const auto& [signal, name] : signals)
    for (int rank = 0; rank < comm.size(); ++rank) {
      StopRequests requests(comm, folder.path(), 0);
      EXPECT_EQ(requests.poll(), Request::none);
      if (comm.rank() == rank) std::raise(signal);
      EXPECT_EQ(requests.poll(), Request::stop);
      EXPECT_EQ(requests.reason(), std::string("signal ") + name);
    }
}

TEST(StopRequests, for_a_snapshot_are_answered_once_and_before_a_stop) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-snapshot");
  StopRequests requests(comm, folder.path(), 0);
  if (comm.rank() == comm.size() - 1) std::raise(SIGUSR2);
  if (comm.is_master()) std::raise(SIGTERM);
  EXPECT_EQ(requests.poll(), Request::snapshot);
  EXPECT_EQ(requests.poll(), Request::stop);
}

TEST(StopRequests, before_the_first_step_leave_others_for_later) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-first");
  StopRequests requests(comm, folder.path(), 0);
  if (comm.rank() == comm.size() - 1) std::raise(SIGUSR2);
  EXPECT_FALSE(requests.poll_stop());
  if (comm.rank() == comm.size() - 1) std::raise(SIGTERM);
  EXPECT_TRUE(requests.poll_stop());
  EXPECT_EQ(requests.reason(), "signal SIGTERM");
  EXPECT_EQ(requests.poll(), Request::snapshot);
}

TEST(StopRequests, come_before_a_checkpoint_that_the_master_finds_due) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-due");
  StopRequests requests(comm, folder.path(), 0);
  EXPECT_EQ(requests.poll(comm.is_master()), Request::checkpoint);
  EXPECT_EQ(requests.poll(!comm.is_master()), Request::none);
  std::raise(SIGUSR2);
  EXPECT_EQ(requests.poll(true), Request::snapshot);
  EXPECT_EQ(requests.poll(true), Request::checkpoint);
  std::raise(SIGUSR1);
  EXPECT_EQ(requests.poll(true), Request::stop) << "which writes one";
}

TEST(StopRequests, made_before_there_is_a_run_are_kept_for_it) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-early");
  for (const int signal : {SIGUSR1, SIGTERM}) {
    keep_requests();
    if (comm.is_master()) std::raise(signal);
    StopRequests requests(comm, folder.path(), 0);
    EXPECT_EQ(requests.poll(), Request::stop);
  }
}

TEST(StopRequests, that_come_when_a_run_has_ended_do_not_kill_it) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-late");
  const auto end_run = [&](bool is_stopped) {
    StopRequests requests(comm, folder.path(), 0);
    if (is_stopped) std::raise(SIGUSR1);
    EXPECT_EQ(requests.poll(), is_stopped ? Request::stop : Request::none);
  };
  end_run(false);
  std::raise(SIGUSR1);
  std::raise(SIGUSR2);
  EXPECT_EXIT(std::raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "") << "it was not asked to stop";
  end_run(true);
  std::raise(SIGTERM);
  end_run(false);  // which was not meant by any of these
}

TEST(StopRequests, by_a_file_are_obeyed_once) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-file");
  const std::string file = folder / "stop";
  if (comm.is_master()) std::ofstream{file};
  comm.barrier();
  StopRequests requests(comm, folder.path(), 0);
  EXPECT_EQ(requests.poll(), Request::stop);
  EXPECT_EQ(requests.reason(), "the file " + file);
  comm.barrier();
  EXPECT_FALSE(std::filesystem::exists(file));
  StopRequests later(comm, folder.path(), 0);
  EXPECT_EQ(later.poll(), Request::none);
}

TEST(StopRequests, by_a_file_from_before_the_run_are_none) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-old-file");
  const std::string file = folder / "stop";
  if (comm.is_master()) {
    std::ofstream{file};
    std::filesystem::last_write_time(file,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  }
  comm.barrier();
  StopRequests requests(comm, folder.path(), 0);
  EXPECT_EQ(requests.poll(), Request::none);
  EXPECT_FALSE(comm.is_master() && std::filesystem::exists(file));
}

TEST(StopRequests, come_before_a_limit_by_what_a_checkpoint_takes) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-limit");
  StopRequests requests(comm, folder.path(), 100000);
  requests.steps_go_on({0, true});
  EXPECT_EQ(requests.poll(), Request::none);
  requests.steps_go_on({60000, true});  // with half as much again for what varies it fits
  EXPECT_EQ(requests.poll(), Request::none);
  requests.steps_go_on({70000, true});
  EXPECT_EQ(requests.poll(), Request::stop);
  EXPECT_EQ(requests.reason(), "limits.wall_clock");
}

TEST(StopRequests, measure_a_checkpoint_before_they_end_a_run_for_what_it_may_take) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-guess");
  StopRequests requests(comm, folder.path(), 100000);
  requests.steps_go_on({70000, false});
  EXPECT_EQ(requests.poll(), Request::checkpoint);
  EXPECT_EQ(requests.reason(), "");
  requests.steps_go_on({100, true});
  EXPECT_FALSE(requests.poll_stop());
  EXPECT_EQ(requests.poll(), Request::none);
  requests.steps_go_on({70000, true});
  EXPECT_TRUE(requests.poll_stop());
  EXPECT_EQ(requests.reason(), "limits.wall_clock");
}

TEST(StopRequests, that_come_from_others_need_no_measure) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-others");
  StopRequests requests(comm, folder.path(), 100000);
  requests.steps_go_on({10, false});
  EXPECT_EQ(requests.poll(), Request::none);
  std::raise(SIGUSR1);
  EXPECT_EQ(requests.poll(), Request::stop);
}

TEST(StopRequests, come_before_the_end_of_a_job) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-job");
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 1000).c_str(), 1);
  {
    StopRequests requests(comm, folder.path(), 100000);
    requests.steps_go_on({0, true});
    EXPECT_EQ(requests.poll(), Request::none);
    requests.steps_go_on({1000, true});
    EXPECT_EQ(requests.poll(), Request::stop);
    EXPECT_EQ(requests.reason(), "the end of the time that SLURM gives");
  }
  unsetenv("SLURM_JOB_END_TIME");
  unsetenv("SLURM_JOB_ID");
}

TEST(StopRequests, by_a_second_interrupt_end_the_process_at_once) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-twice");
  const StopRequests requests(comm, folder.path(), 0);
  EXPECT_EXIT(
      {
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

Parameters plummer(const std::string& folder) {
  return parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: plummer, n: 300}\n"
      "gravity: {softening: 0.02}\n"
      "time: {end: 0.2, step: 0.05}\n"
      "output: {folder: " +
          folder + ", every: 0.1, render: false}\n",
      "test", {});
}

Ended run(const Communicator& comm, const Parameters& parameters, StopRequests& requests) {
  InitialState state = initial_state(comm, parameters);
  return Simulation(comm, parameters, std::move(state.particles), state.time).run(&requests);
}

TEST(StopRequests, end_a_run_after_its_next_step) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-run");
  StopRequests requests(comm, folder.path(), 0);
  if (comm.rank() == comm.size() - 1) std::raise(SIGUSR1);
  EXPECT_EQ(run(comm, plummer(folder.path()), requests), Ended::stopped);
  comm.barrier();
  EXPECT_TRUE(std::filesystem::exists(folder / "snapshot_000.hdf5"));
  EXPECT_FALSE(std::filesystem::exists(folder / "snapshot_001.hdf5"));
}

TEST(StopRequests, for_a_snapshot_that_cannot_be_written_let_the_run_go_on) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "stop-no-room");
  const TestFolder plain(comm, "room");
  if (comm.is_master()) std::filesystem::create_directory(folder / "requested_step_00000001.hdf5");
  comm.barrier();
  StopRequests requests(comm, folder.path(), 0);
  if (comm.is_master()) std::raise(SIGUSR2);
  EXPECT_EQ(run(comm, plummer(folder.path()), requests), Ended::complete);
  EXPECT_EQ(run(comm, plummer(plain.path()), requests), Ended::complete);
  comm.barrier();
  EXPECT_TRUE(testing::bytes_of(folder / "snapshot_002.hdf5") ==
              testing::bytes_of(plain / "snapshot_002.hdf5"));
}

TEST(StopRequests, for_a_snapshot_leave_the_outputs_that_are_due_as_they_are) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder asked(comm, "asked"), plain(comm, "not-asked");
  StopRequests requests(comm, asked.path(), 0);
  if (comm.is_master()) std::raise(SIGUSR2);
  EXPECT_EQ(run(comm, plummer(asked.path()), requests), Ended::complete);
  EXPECT_EQ(run(comm, plummer(plain.path()), requests), Ended::complete);
  const auto state = [&](const std::string& path) {
    return testing::gathered_by_id(comm, read_snapshot(comm, path).particles);
  };
  for (const char* name : {"snapshot_000.hdf5", "snapshot_001.hdf5", "snapshot_002.hdf5"})
    testing::expect_same(state(asked / name), state(plain / name));
  const Snapshot requested = read_snapshot(comm, asked / "requested_step_00000001.hdf5");
  // After the first of the shortest steps: later than the begin, not later than the longest step.
  EXPECT_GT(requested.header.time, 0);
  EXPECT_LE(requested.header.time, 0.05);
  EXPECT_EQ(comm.sum(static_cast<Count>(requested.particles.size())), 300);
}

}  // namespace
}  // namespace grove
