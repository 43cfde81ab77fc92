#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/simulation.hpp"
#include "support/external_potentials.hpp"
#include "support/leaf_move_checks.hpp"
#include "support/particles.hpp"

namespace grove::testing {

/// The outcome of a run.
struct Evolution {
  std::vector<Count> interactions;  ///< of each step, with cells and particles
  Particles particles;              ///< at its end, by id
};

/// A merger of galaxies.
class CheckedRun {
 public:
  /// sections: of the parameters, beside initial conditions, and units, which are dimensionless where they
  /// are not given.
  CheckedRun(MakeGravity make, const std::string& sections, Count particles)
      : make_(std::move(make)), particles_(particles) {
    const bool has_units = sections.find("units:") != std::string::npos;
    parameters = parse_parameters("initial_conditions: {model: merger}\n" +
                                      std::string(has_units ? "" : "units: {system: none}\n") + sections,
                                  "test", {});
  }

  Evolution uninterrupted(const Communicator& comm) const {
    Simulation run = begin(comm);
    Evolution result;
    while (!run.is_done()) step(run, result);
    result.particles = gathered_by_id(comm, run.particles());
    return result;
  }

  /// Saved after every step; the next one is done by another number of ranks. change: of what is read.
  Evolution relayed(const Communicator& comm, const std::function<void(Checkpoint&)>& change = {}) {
    const TestFolder folder(comm, "relay");
    parameters.output.folder = folder.path();
    std::vector<int> sizes{comm.size(), 1};
    for (const int size : {3, 2, 7})
      if (size < comm.size()) sizes.push_back(size);
    Evolution result;
    std::string last;
    bool is_done = false;
    for (std::size_t leg = 0; !is_done; ++leg) {
      const int size = sizes[leg % sizes.size()];
      const Communicator ranks = comm.split(comm.rank() < size ? 0 : 1);
      if (comm.rank() < size) {
        Simulation run = last.empty() ? begin(ranks) : resumed(ranks, last, change);
        step(run, result);
        run.write_checkpoint();
        is_done = run.is_done();
      }
      is_done = comm.broadcast(is_done);
      last = CheckpointFolder(folder.path()).latest_first().at(0);
    }
    result.particles = gathered_by_id(comm, resumed(comm, last, {}).particles());
    return result;
  }

  Simulation begin(const Communicator& comm) const {
    ModelParameters merger;
    merger.model = "merger";
    merger.particles = particles_;
    return {comm, parameters, make_(comm, share_of(comm, make_particles(merger)), parameters.gravity),
            parameters.time.begin.value_or(0)};
  }
  Simulation resumed(const Communicator& comm, const std::string& path,
                     const std::function<void(Checkpoint&)>& change) const {
    Checkpoint checkpoint = open_checkpoint(comm, path);
    if (change) change(checkpoint);
    return {comm, parameters, make_(comm, {}, parameters.gravity), checkpoint};
  }

  Parameters parameters;

 private:
  static void step(Simulation& run, Evolution& result) {
    run.step();
    const WalkCounts counts = run.forces().interactions;
    result.interactions.insert(result.interactions.end(), {counts.cell, counts.particle});
  }

  MakeGravity make_;
  Count particles_;
};

/// A run that is saved after each step and goes on elsewhere is the run that is left alone, bit for bit.
inline void check_relay(const Communicator& comm, const MakeGravity& make, const std::string& sections,
                        Count particles) {
  SCOPED_TRACE(sections);
  const Communicator self(MPI_COMM_SELF);
  CheckedRun run(make, sections, particles);
  const Evolution expected = run.uninterrupted(self), actual = run.relayed(comm);
  if (comm.is_master()) {  // which has made all steps
    EXPECT_EQ(actual.interactions, expected.interactions);
  }
  expect_same(actual.particles, expected.particles);
}

}  // namespace grove::testing
