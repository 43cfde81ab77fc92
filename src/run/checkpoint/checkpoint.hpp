#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "gravity/gravity.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_manifest.hpp"
#include "io/parameters.hpp"
#include "io/view.hpp"
#include "run/log/conservation.hpp"
#include "run/log/energy_balance.hpp"
#include "run/log/rung_costs.hpp"
#include "time/block_clock.hpp"
#include "time/epoch.hpp"
#include "tuning/renewal_turns.hpp"
#include "tuning/tree_tuning.hpp"

/// The complete state of a run on disk, from which it goes on bit for bit, on any number of ranks: one file
/// per rank with its leaves, the cells they are in, their particles and the shapes of their trees, and one
/// with what all ranks know alike. Leaves and trees do not depend on the ranks, so going on elsewhere is what
/// LeafMoves do.
namespace grove {

/// The state of a run between two steps, besides its domain and its backend. It is stored as it is in memory:
/// a change of this or of a member raises checkpoint_format (checkpoint_layout.cpp).
struct RunState {
  double begin;         ///< time
  double longest_step;  ///< of all
  Count leaf_size;      ///< that was asked for, or recorded by the snapshot that the run began with
  BlockClock::State clock;
  std::int64_t steps_done, groups_tuned_at;
  Epoch epoch;
  bool has_rungs;          ///< the active particles have chosen their next steps; else that comes first
  bool has_gas;            ///< Particles::has_gas
  std::int64_t snapshots;  ///< that were due and are written: the number of the next one
  EnergyBalance energy;
  Conservation conservation;
  double last_output;         ///< time of the last snapshot that was written; -infinity: none
  double checkpoint_seconds;  ///< that the checkpoint before this one took; 0: there was none
  TreeTuning::State tuning;
  RenewalTurns::State renewals;
  RungCosts rung_costs;
  ForceReport forces;
  Frame frame;  ///< of the last picture
};

/// The sources of a checkpoint.
struct CheckpointSource {
  const RunState& run;
  double time;
  std::string time_text;  ///< as it is shown to the user
  const Parameters& parameters;
  const Domain& domain;
  Backend& backend;
  std::optional<RebuildAbove::State> rebuild_above;  ///< of runs with that rule
};

/// Collective. Writes a checkpoint, flushed to disk, and removes all others but `kept`. If a file cannot be
/// written: InputError, if something else fails, such as memory: std::runtime_error, on all ranks together;
/// what was there before then stays, and nothing half-written. Disk:
/// checkpoint_bytes_per_particle() (backend/memory_needs.hpp).
void write_checkpoint(const Communicator& comm, const CheckpointFolder& folder, const std::string& kept,
                      const CheckpointSource& source);

/// A checkpoint that is whole, before its particles are read.
struct Checkpoint {
  std::string path;
  CheckpointManifest manifest;
  RunState run;
  GravityState gravity;
  std::optional<RebuildAbove::State> rebuild_above;  ///< of runs with that rule
  Domain domain;  ///< what this rank needs to know, with owners among these ranks

  /// The own leaves, as the backend takes them. InputError if a file does not hold what it should: together
  /// on all ranks. levels: whether those of nodes are read, which trees need where
  /// GravityParameters::keeps_levels(). Memory: nothing beside the result.
  struct Own {
    Particles particles;
    Forest::Shape trees;
  };
  Own read_own(const Communicator& comm, bool levels) const;
};

/// Collective. Checks the manifest and every byte of all pieces, shared among the ranks, before anything else
/// reads them; then reads what all ranks know alike, and shares the leaves out. InputError, which names the
/// piece, on all ranks together.
Checkpoint open_checkpoint(const Communicator& comm, const std::string& path);

}  // namespace grove
