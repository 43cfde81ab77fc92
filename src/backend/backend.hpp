#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_balance.hpp"
#include "forest/forest.hpp"
#include "gravity/audit.hpp"
#include "gravity/gravity.hpp"
#include "gravity/totals.hpp"
#include "kernels/math/census.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/potentials.hpp"
#include "particles/particles.hpp"
#include "tuning/block_excess.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// What a backend keeps from one evaluation of forces to the next, beside particles and domain.
struct BackendState {
  GravityState gravity;  ///< the same on all ranks
  std::vector<BlockExcess::Block>
      blocks;           ///< of all ranks, the same on all; none where leaves have no blocks
  Forest::Shape trees;  ///< of the own leaves; origins on the host alone
};

/// The particles of this rank, in the memory of the host or of a GPU, and what a step does with them there.
class Backend {
 public:
  virtual ~Backend() = default;

  /// What computes, as BackendChoice::name has it.
  virtual std::string name() const = 0;

  /// External potentials that act from the next evaluation on; see Gravity::set_external().
  virtual void set_external(std::vector<ExternalPotential> potentials) = 0;

  /// Collective. grove::decompose(); the particles' order is that of the leaves after evaluate().
  virtual Domain decompose(const DecompositionParameters& parameters, const std::optional<Box>& previous,
                           DecompositionReport& report) = 0;

  /// What new trees in blocks would save in a step of this first active level, the same on all ranks;
  /// nothing, where all leaves are rebuilt together. rate: of these trees, TreeUpdateRates::rebuild.
  virtual BlockExcess::Due due(const Domain& domain, int first_active, double rate) const = 0;
  /// Collective. Between two evaluations: new trees in the blocks of the domain that are due, whose cells
  /// then change; or, if the evaluation that follows has to grow them, in all leaves: returns true.
  virtual bool rebuild(Domain& domain, int first_active, double rate, PhaseTimers& timers) = 0;

  /// Work of each own leaf: the sum of Particles::work.
  virtual std::vector<Count> leaf_work(const Domain& domain) const = 0;
  /// Collective. Between two evaluations: gives the ranks these runs of leaves (Domain::give_out). Particles
  /// and trees go with the leaves, as they are, so no bit of any later result changes. Adds to move, and
  /// to wait for slower ranks. InputError on all ranks together if one would hold more particles than records
  /// can number.
  virtual void move_leaves(Domain& domain, std::vector<std::int32_t> first_leaf, PhaseTimers& timers) = 0;
  /// What that takes here.
  virtual MoveRates move_rates() const = 0;

  /// Collective. Gravity on the active particles, in the domain that decompose() gave last; see
  /// Gravity::evaluate().
  virtual ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers) = 0;

  /// See time/leapfrog.hpp.
  virtual LevelCounts choose_levels(const StepRule& rule, int first_active) = 0;
  virtual void kick(const Kick& kick) = 0;
  virtual void drift(const Drift& drift) = 0;

  /// What an update of the trees costs here, on one rank.
  virtual TreeUpdateRates update_rates() const = 0;

  /// Of the particles of this rank. Cost: one pass over them.
  virtual Census census() const = 0;

  /// Collective. Particles in the order of the last evaluation; see compute_totals() and grove::audit().
  virtual Totals totals(const Domain& domain) const = 0;
  virtual AuditResult audit(const Domain& domain, Count sample, int first_active = 0) const = 0;

  /// Hands the particles out, in the memory of the host, as they are, or, if `to` is given, at another time.
  /// They are valid during the call only.
  virtual void show(const Prediction* to, const std::function<void(const Particles&)>& use) = 0;

  /// Between two steps. With the particles as show() hands them out, and the domain, all there is to save.
  virtual BackendState state() const = 0;
  /// Collective, before anything else: goes on from there, in the domain that the particles and trees are of,
  /// with any number of ranks. Every bit of all later results is as it would have been.
  virtual void restore(const Domain& domain, Particles particles, BackendState state) = 0;

  /// A line per rank about the devices that compute; empty: the host does.
  virtual std::string devices() const { return {}; }
  /// Bytes of device memory that this rank has used at most so far.
  virtual std::uint64_t peak_device_memory() const { return 0; }
};

/// Device memory that a step of one rank takes at most, fields, records and trees together: what was measured
/// on one GPU, and an estimate for several (docs/measurements/gpu-forces.md). Where there are others, nearly
/// all particles travel before the first step.
constexpr double device_bytes_per_particle(int ranks) { return ranks == 1 ? 290 : 320; }

/// Which backend computes, and how it uses GPUs.
struct BackendChoice {
  std::string name = "auto";           ///< "kokkos": the host; "cuda": a GPU per rank; "auto": see below
  bool share_gpu = false;              ///< several ranks may use the same GPU
  std::optional<PayloadPath> payload;  ///< how arrays travel between GPUs; default: the first that works
  std::optional<int> targets_per_warp = {};  ///< particles that a warp of a GPU walks together, 32 or 64: for
                                             ///< measurements; default: what is fastest for so many
};

/// Collective. "auto" becomes "cuda" if Grove was built with CUDA and every rank can have a GPU of its own,
/// or, with share_gpu, one at all; else "kokkos", and the result says why.
std::string resolve(const Communicator& comm, BackendChoice& choice);

/// Memory of the GPU of a rank.
struct DeviceMemory {
  std::uint64_t available = 0;  ///< bytes that this process has or could have
  int ranks = 1;                ///< that use this GPU, this one included
};
/// Collective. choice: resolved. Nothing: the host computes.
std::optional<DeviceMemory> device_memory(const Communicator& comm, const BackendChoice& choice);

/// Collective. choice: resolved. Takes the particles (validated, any distribution over ranks). InputError if
/// the backend is not to be had here, or what was chosen does not go together.
std::unique_ptr<Backend> make_backend(const Communicator& comm, const BackendChoice& choice,
                                      Particles particles, const GravityParameters& gravity);

}  // namespace grove
