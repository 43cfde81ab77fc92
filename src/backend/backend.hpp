#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_balance.hpp"
#include "gas/gas.hpp"
#include "gravity/audit.hpp"
#include "gravity/gravity.hpp"
#include "gravity/totals.hpp"
#include "kernels/math/census.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/opening.hpp"
#include "neighbours/friend_finder.hpp"
#include "particles/particles.hpp"
#include "structure/power_estimator.hpp"

namespace grove {

/// Properties of a backend that do not change.
struct BackendTraits {
  std::string name;        ///< what computes, as BackendChoice::name has it
  double redecomposition;  ///< what new cuts and trees cost, on one rank; interactions per particle
  MoveRates move_rates;    ///< what it takes to move leaves between ranks
  Count few_renewed;       ///< trees of so many particles or fewer are not renewed in each step: RenewalTurns
  std::string devices{};   ///< a line per rank about the devices that compute; empty: the host does
};

/// The particles of this rank, in the memory of the host or of a GPU, and what a step does with them there.
/// Forces are those of gravity().
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const BackendTraits& traits() const { return traits_; }
  /// On these particles.
  Gravity& gravity() { return gravity_; }
  /// That of these particles; nullptr: there is none.
  Gas* gas() { return has_gas_ ? &gas_ : nullptr; }

  /// Collective. grove::decompose(); the particles' order is that of the leaves after the next new trees.
  virtual Domain decompose(const DecompositionParameters& parameters, const Domain& previous,
                           DecompositionReport& report) = 0;
  /// Work of each own leaf: the sum of Particles::work.
  virtual std::vector<Count> leaf_work(const Domain& domain) const = 0;
  /// Collective. Between two evaluations: gives the ranks these runs of leaves (Domain::give_out). Particles
  /// and trees go with the leaves, as they are, so no bit of any later result changes. Adds to move, and
  /// to wait for slower ranks. InputError on all ranks together if one would hold more particles than records
  /// can number.
  virtual void move_leaves(Domain& domain, LeafOwners owners, PhaseTimers& timers) = 0;

  /// See time/leapfrog.hpp. Nothing happens, and no rungs are counted, where the last forces on particles of
  /// this rank are not finite.
  virtual RungCounts choose_rungs(const StepRule& rule, int first_active) = 0;
  virtual void kick(const Kick& kick) = 0;
  /// periodic: a box that particles may leave until wrap(); nullptr: there is none. Returns how far particles
  /// of this rank then are outside of it, at most, along one axis; below 0: all are within.
  virtual double drift(const Drift& drift, const Box* periodic) = 0;
  /// Before a decomposition: brings all positions into a periodic box.
  virtual void wrap(const Box& box) = 0;

  /// Takes the census of the particles of this rank as they are now. Cost: one pass over them. A GPU may be
  /// at it still: then what is returned waits for the result, unless something else has.
  virtual std::function<Census()> census() const = 0;
  /// Collective. Particles in the order of the last evaluation; see compute_totals() and grove::audit().
  virtual Totals totals(const Domain& domain) const = 0;
  virtual AuditResult audit(const Domain& domain, Count sample, int first_active = 0) const = 0;

  /// Hands the particles out, in the memory of the host, as they are, or, if `to` is given, at another time.
  /// They are valid during the call only. fields: those that `use` looks at besides positions; from a GPU no
  /// others come, and their arrays are empty.
  virtual void show(const Prediction* to, const std::function<void(const Particles&)>& use,
                    const FieldChoice& fields = {}) = 0;
  /// Finds friends of friends among any particles, by what computes here.
  virtual const FriendFinder& friends() const = 0;
  /// Measures power spectra of any particles, by what computes here.
  virtual const PowerEstimator& spectra() const = 0;
  /// Collective. Takes these in place of its own, as they were handed out; Gravity::restore() then has what
  /// else a run needs to go on.
  void replace(Particles particles) {
    has_gas_ = particles.has_gas;
    take(std::move(particles));
  }

 protected:
  /// gravity, gas: members of what is derived from this.
  Backend(BackendTraits traits, Gravity& gravity, Gas& gas, bool has_gas)
      : traits_(std::move(traits)), gravity_(gravity), gas_(gas), has_gas_(has_gas) {}

  /// replace().
  virtual void take(Particles particles) = 0;

  BackendTraits traits_;

 private:
  Gravity& gravity_;
  Gas& gas_;
  bool has_gas_;  ///< Particles::has_gas
};

/// Bytes of device memory that this rank has used at most so far, without what it took because it was free.
std::uint64_t peak_device_memory();

/// Which backend computes, and how it uses GPUs.
struct BackendChoice {
  std::string name = "auto";           ///< "kokkos": the host; "cuda": a GPU per rank; "auto": see below
  bool share_gpu = false;              ///< several ranks may use the same GPU
  std::optional<PayloadPath> payload;  ///< how arrays travel between GPUs; default: the first that works
  std::optional<int> targets_per_warp = {};  ///< particles that a warp of a GPU walks together, 32 or 64: for
                                             ///< measurements; default: what is fastest for so many
};

/// Collective. "auto" becomes "cuda" if Grove was built with CUDA and every rank can have a GPU of its own,
/// or, with share_gpu, one at all; else "kokkos", where share_gpu allows nothing, and the result says why.
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
                                      Particles particles, const GravityParameters& gravity,
                                      const GasParameters& gas = {});

/// Collective. choice: resolved. Finds friends of friends, without a backend. InputError as make_backend()
/// has it.
std::unique_ptr<FriendFinder> make_friend_finder(const Communicator& comm, const BackendChoice& choice);
/// The same for power spectra.
std::unique_ptr<PowerEstimator> make_power_estimator(const Communicator& comm, const BackendChoice& choice);

}  // namespace grove
