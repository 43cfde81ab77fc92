#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "run/checkpoint/checkpoint.hpp"

namespace grove {

/// The size of a run.
struct RunAhead {
  Count particles = 0;
  double written = 0;  ///< particles in a snapshot; of a run that goes on, whose types nobody has read, all
  double certainly_written = 0;  ///< of these; 0: not known
  double steps = 0;              ///< longest ones
  double steps_each = 1;         ///< steps of all lengths in a longest one
  bool is_guess = false;         ///< whether steps_each is
  double snapshots = 0;
  bool has_gas = false;  ///< Particles::has_gas
};

/// The particles and the time that a run begins with.
struct Beginning {
  std::array<Count, particle_types> counts{};  ///< particles by type
  double time = 0;                             ///< of the file, or 0
  std::vector<std::string> remarks{};          ///< what a user might not expect of the files
  std::vector<std::string> warnings{};         ///< what is hardly meant
  std::optional<Units> file_units{};           ///< that the first of the files states
  bool has_gas = false;                        ///< Particles::has_gas
};

/// Collective. Reads it from the model, which is not made, or from the file, which is opened and checked, and
/// whose particles are not read. InputError on all ranks together.
Beginning beginning_of(const Communicator& comm, const Parameters& parameters);

/// Names the parameter by which snapshots or pictures hold only types of which there are no particles. Empty:
/// there is no such fault. counts: particles by type, of all ranks.
std::string fault_of_types(const std::array<Count, particle_types>& counts, const OutputParameters& output);

/// All that a run that begins afresh, or goes on, has before it. Collective; InputError on all ranks
/// together, as the run's: a type without softening, types that outputs are to hold and that are not there,
/// times that do not go together, more leaves than particles.
RunAhead run_ahead(const Communicator& comm, const Parameters& parameters, const Beginning& beginning);
RunAhead run_ahead(const Communicator& comm, const Parameters& parameters, const Checkpoint& from);

/// The choices that decide how much memory of the host a particle takes.
struct HostUse {
  bool pictures = false;
  GravityParameters gravity{};
  Count leaf_size = 0;  ///< particles of the largest leaf; 0: so few that they do not count
  int mesh = 0;         ///< of power spectra, points along an edge
  bool has_gas = false;
};
/// Bytes of RAM that a rank takes at its peak, program included: an upper envelope of what was measured on 1
/// to 16 ranks with the default accuracy (backend/memory_needs.hpp).
double host_bytes_of_rank(double particles, int ranks, const HostUse& use);

/// Bytes that the logs of a run take: log.jsonl and four tables.
double log_bytes(const RunAhead& ahead);

/// Those of them that are not a guess: where steps_each is one, of one step in each longest one.
double known_log_bytes(const RunAhead& ahead);

/// Something that a run takes, and what there is of it.
struct Need {
  std::string name, where;          ///< where: behind the bytes, as " on each GPU"
  double bytes = 0;                 ///< at most
  double at_least = 0;              ///< the part of these that is certain
  std::optional<double> available;  ///< nothing where the system does not tell
  std::string remedy;               ///< what would fit

  bool fits() const { return !available || bytes <= *available; }
  bool may_fit() const { return !available || at_least <= *available; }
  /// "86 MB on host a, 100 MB are available"
  std::string text() const;
};

/// Each collective, and the same on all ranks.
/// RAM of the host that has least for what its ranks take.
Need host_need(const Communicator& comm, Count particles, const HostUse& use);
/// Memory of the GPU that has least for the ranks that use it; nothing: the host computes. choice: resolved.
std::optional<Need> device_need(const Communicator& comm, const BackendChoice& choice, Count particles,
                                const GravityParameters& gravity, bool has_gas);
/// Room in the output folder for snapshots, checkpoints and logs, guesses apart. replaces: earlier results
/// there go. InputError on all ranks together if nothing can be written there.
Need disk_need(const Communicator& comm, const Parameters& parameters, const RunAhead& ahead, bool replaces);

/// All of them.
std::vector<Need> needs_of(const Communicator& comm, const Parameters& parameters,
                           const BackendChoice& choice, const RunAhead& ahead, bool replaces);
/// InputError, on all ranks together, if something certainly does not fit: it says what would. A warning from
/// the master of what may not.
void require_room(const Communicator& comm, const std::vector<Need>& needs);

}  // namespace grove
