#pragma once

#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "gravity/force_report.hpp"
#include "gravity/gravity_storage.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/potentials.hpp"

namespace grove {

/// The state that all ranks keep alike from one evaluation to the next. Trivially copyable.
struct GravityState {
  GravitySetup setup;
  double critical_separation;  ///< of parts of groups; 0: not known yet
  /// Interactions of a target, by the first active rung, in the last walk through all 27 periodic boxes; 0:
  /// there was none. Only known where far cells act through expansions in other steps.
  RungCounts near_work;
};

/// Evaluates gravity on all particles of all ranks, wherever they are stored. Every bit of the result is the
/// same for any number of ranks; between host and GPU it differs by rounding, where a GPU walks pairs of
/// groups (cuda::default_targets_per_warp()) within the error of the tree.
class Gravity {
 public:
  /// parameters: the same on every rank. All must outlive this.
  Gravity(const Communicator& comm, const GravityParameters& parameters, GravityStorage& storage)
      : comm_(comm),
        parameters_(parameters),
        storage_(storage),
        critical_separation_(parameters.critical_separation) {}

  const GravityParameters& parameters() const { return parameters_; }
  /// With the softening of the forces that there are.
  const GravityParameters& of_forces() const { return setup_.walk.gravity; }

  /// Plummer-equivalent lengths by type, from the next evaluation on that grows trees or is of all particles;
  /// one of few particles has the softening of the evaluation before. The same on every rank.
  void set_softening(const std::array<double, particle_types>& lengths) { parameters_.softening = lengths; }

  /// Potentials that act on the particles from the next evaluation on, beside their own gravity: part of
  /// accelerations, and so of |a_old|, not of potentials. The same on every rank.
  void set_external(std::vector<ExternalPotential> potentials) {
    storage_.set_external(std::move(potentials));
  }

  /// Grows the trees of the own leaves, exchanges what the ranks' walks need of each other, and walks; or
  /// sums directly, if there are fewer particles than parameters.direct_below. Sets acceleration, potential,
  /// old_acceleration and work of the active particles.
  ///
  /// domain (in): the decomposition of just the particles that are stored, which may have moved since.
  /// timers: adds to build, sort, moments, let, walk, tune, advance, and wait, for slower ranks. Collective;
  /// where only some particles are active, in 2 calls of MPI, 3 in a periodic box, and messages to ranks in
  /// reach.
  /// InputError on all ranks if single precision cannot hold the forces or the separations
  /// (gravity/resolution.hpp). Cost: O(N/P log N), and messages for a surface of the rank's part of space.
  ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers);

  TableBytes tables() const { return storage_.tables(); }
  /// All there is to save between two steps, with the particles and the domain.
  struct State {
    GravityState agreed;
    GravityStorage::State stored;  ///< of this rank
  };
  State state(const Domain& domain) const {
    return {{setup_, critical_separation_, near_work_}, storage_.state(domain)};
  }
  /// Collective. Goes on from there, in the domain that the particles and trees are of, with any number of
  /// ranks. Every bit of all later results is as it would have been.
  void restore(State state, const Domain& domain);

 private:
  GravitySetup agree_on_setup(const Domain& domain) const;
  bool expands_far(const EvaluationPlan& plan) const;
  GravitySetup with_far_cells(GravitySetup setup) const;
  GravitySetup with_near_work(GravitySetup setup, int first_active) const;
  void learn_near_work(const EvaluationPlan& plan, const ForceReport& report);
  bool walk(const Domain& domain, const EvaluationPlan& plan, Selections selections,
            std::exception_ptr& fault, ForceReport& report, PhaseTimers& timers);
  void exchange_again(const Domain& domain, PhaseTimers& timers);
  JointReduction take_forces(const Domain& domain, const EvaluationPlan& plan, bool is_direct,
                             bool is_complete, ForceReport& report, PhaseTimers& timers);
  bool add_over_ranks(JointReduction joint, bool is_complete, int& is_at_fault, ForceReport& report,
                      PhaseTimers& timers) const;
  void tune_groups(const Domain& domain);
  bool tunes_groups(const EvaluationPlan& plan) const;

  const Communicator& comm_;
  GravityParameters parameters_;
  GravityStorage& storage_;
  double critical_separation_;  ///< of parts of groups; 0: not known yet
  RungCounts near_work_{};      ///< GravityState::near_work
  GravitySetup setup_;
  GravitySetup now_;  ///< of the evaluation under way
};

}  // namespace grove
