#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "composition.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "particles/particles.hpp"
#include "run_needs.hpp"

namespace grove {

/// The start of a run; each rank holds a share of the particles.
struct InitialState {
  Particles particles;
  Count leaf_size = 0;  ///< that a snapshot records; 0: none
  double time = 0;      ///< time.begin if given, else the snapshot's, or 0 for a model or several components
  std::vector<std::string> remarks;   ///< what a user might not expect of the file
  std::vector<std::string> warnings;  ///< what is hardly meant
  std::optional<Units> file_units;    ///< that the snapshot, or the first of several, states
};

/// How files of particles are read for a run: into its units.
ReadOptions reading_of(const Parameters& parameters);

/// How components are put together for a run.
CompositionOptions composition_of(const Parameters& parameters);

/// A remark on a file that states no units; empty: it states them. On the master, which knows of an h in
/// them.
std::string remark_on_units(const std::string& file, const SnapshotHeader& header);

/// Remarks on a file that a user might not expect.
std::vector<std::string> remarks_on(const std::string& file, const SnapshotHeader& header);

/// Warnings of a file whose box or redshift is not the run's.
std::vector<std::string> warnings_on(const Parameters& parameters, const std::string& file,
                                     const SnapshotHeader& header);

/// A remark on space that is curved, which few want.
std::vector<std::string> remarks_on_space(const Parameters& parameters);

/// Remarks on a run whose space or gas is not as its model needs it.
std::vector<std::string> remarks_on_model(const Parameters& parameters);

/// A remark on particles of type 0 of a source, so many on all ranks; empty: there are none, or they are gas.
std::string remark_on_gas(const std::string& source, Count count, bool has_gas);

/// Remarks on section `gas` and what there is of it: count gas particles on all ranks.
std::vector<std::string> remarks_on_use_of_gas(const Parameters& parameters, Count count);

/// The units that values of the run are shown in: as the user wrote them, else as a run of Grove's default
/// units finds them in its file.
DisplayUnits shown_with(const Parameters& parameters, const std::optional<Units>& file_units);

/// Hooks of a run, called while its particles are read or made, each by all ranks together, and what it
/// throws ends that.
struct StartHooks {
  /// Once it is known how many there will be.
  std::function<void(const Beginning&)> before{};
  /// Every second or so.
  std::function<void()> pause{};
};

/// Reads the snapshot, makes the model or puts together the components that the parameters name, in the units
/// of the run, and validates the particles. The same particles for any number of ranks. Collective.
/// InputError: it cannot be read or made, or the particles cannot be simulated.
InitialState initial_state(const Communicator& comm, const Parameters& parameters,
                           const StartHooks& hooks = {});

/// Collective. Seconds that this takes on a slow machine: a file at 100 MB/s, of all ranks together, and of a
/// set of files all that its folder holds; a model 10 microseconds a particle.
double initial_state_seconds(const Communicator& comm, const InitialConditionsParameters& from);

}  // namespace grove
