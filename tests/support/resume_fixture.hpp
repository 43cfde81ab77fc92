#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/host_backend.hpp"
#include "base/errors.hpp"
#include "run/resume.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"

namespace grove::testing {

/// Rows of a log, without the columns behind the first `columns`, which are measured or depend on ranks.
inline std::string rows_of(const std::string& path, std::size_t columns) {
  std::istringstream file(bytes_of(path));
  std::string rows, row;
  while (std::getline(file, row)) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < columns && end != std::string::npos; ++i) end = row.find(',', end + 1);
    rows += row.substr(0, end) + "\n";
  }
  return rows;
}

/// A short run with a checkpoint after each step.
class Resume : public ::testing::Test {
 protected:
  Resume() : folder_(comm_, "resume") {}

  Parameters parameters(const std::vector<std::string>& changes = {}) const {
    std::vector<std::string> all{"output.folder=" + folder_.path()};
    all.insert(all.end(), changes.begin(), changes.end());
    return parse_parameters(
        "units: {system: none}\n"
        "initial_conditions: {model: merger, n: 500}\n"
        "gravity: {softening: 0.02}\n"
        "time: {end: 0.08, step: 0.02, eta: 0.1}\n"
        "output: {every: 0.016, render: false}\n"
        "checkpoint: {every: 1e-9}\n",
        "test", all);
  }
  /// As `grove run` does. Returns the steps that it went on from; -1: none; steps of the run: it was
  /// complete.
  std::int64_t run(const ResumeChoice& choice, const std::vector<std::string>& changes = {},
                   const std::string& backend = "kokkos") {
    Parameters p = parameters(changes);
    const auto from = find_checkpoint(comm_, choice, p, backend);
    if (!from) {
      InitialState state = initial_state(comm_, p);
      Simulation(comm_, p, std::move(state.particles), state.time).run();
    } else if (!is_complete(*from, p)) {
      Simulation(comm_, p, std::make_unique<HostBackend>(comm_, Particles{}, p.gravity), *from).run();
    }
    comm_.barrier();  // the master writes the last lines
    return from ? from->run.steps_done : -1;
  }
  std::int64_t run_auto(const std::vector<std::string>& changes = {}) { return run({"auto"}, changes); }

  /// The error of a run that must not begin.
  std::string refusal(const ResumeChoice& choice, const std::vector<std::string>& changes = {},
                      const std::string& backend = "kokkos") {
    try {
      run(choice, changes, backend);
    } catch (const Agreed<InputError>& error) {
      return error.what();
    }
    return "none";
  }

  /// The master's work on files.
  template <class Work>
  void on_disk(const Work& work) const {
    comm_.barrier();
    if (comm_.is_master()) work();
    comm_.barrier();
  }
  std::vector<std::string> checkpoints() const { return CheckpointFolder(folder_.path()).latest_first(); }

  Communicator comm_{MPI_COMM_WORLD};
  TestFolder folder_;
};

}  // namespace grove::testing
