#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/timers.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/rank_speeds.hpp"
#include "forest/forest.hpp"
#include "forest/top_tree.hpp"
#include "kernels/host/walk.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/potentials.hpp"
#include "let/let_message.hpp"
#include "particles/particles.hpp"

namespace grove {

/// What is asked of a force evaluation.
struct EvaluationPlan {
  /// Whether trees are made anew, as they have to be after decompose(); else they are those of the last
  /// evaluation, with the moments and boxes of the particles' present places.
  bool grows = true;
  int first_active = 0;  ///< the level (Particles::level) from which on particles get forces
  /// Whether then to look for the critical separation of least cost, where groups may be split and none is
  /// set. Cost: some 15 walks, of all particles.
  bool tunes_groups = false;
};

/// What a force evaluation did: sums over all ranks, the same on every rank, unless it says otherwise.
struct ForceReport {
  Count particles = 0;
  Count active = 0;                 ///< particles that got forces
  LevelCounts active_of{}, work{};  ///< active particles by level, and their interactions
  Count not_finite = 0;             ///< active particles whose acceleration is no finite number
  WalkCounts interactions;
  Count busiest = 0;  ///< interactions of the rank that has most
  Walked own;         ///< of this rank alone; of direct sums no seconds, as ranks wait for each other in them
  LetCounts let;      ///< received: trees, nodes, particles
  Count let_bytes = 0;  ///< received
  /// Nodes and particles that a rank received, over its share N/P of the particles; mean over ranks.
  double let_fraction = 0;
  float median_acceleration = 0;   ///< of |a_old|; 0 where the criterion does not need it
  bool opening_angle = false;      ///< it stood in for a criterion that needs |a_old|, as there was none yet
  double critical_separation = 0;  ///< that parts of groups reached; 0: groups were not split

  /// Turns what each rank counted into sums over all ranks, and keeps its own interactions. Collective.
  void add_over_ranks(const Communicator& comm);
};

/// What all ranks know before they walk; kept while trees are, unless all particles are active.
struct GravitySetup {
  WalkSetup walk;
  Count particles = 0;
  float median_acceleration = 0;  ///< of |a_old|
  bool opening_angle = false;     ///< it stands in for a criterion that needs |a_old|

  /// Whether the plan's search for the critical separation is to be made.
  bool tunes_groups(const EvaluationPlan& plan) const {
    return plan.tunes_groups && walk.gravity.splits_groups() && walk.gravity.critical_separation == 0 &&
           !opening_angle;
  }
};

/// What gravity keeps from one evaluation to the next beside the trees; the same on all ranks. Trivially
/// copyable.
struct GravityState {
  GravitySetup setup;
  double critical_separation;  ///< of parts of groups; 0: not known yet
};

/// Evaluates gravity on all particles of all ranks. Every bit of the result is the same for any number of
/// ranks.
class Gravity {
 public:
  /// parameters: the same on every rank.
  Gravity(const Communicator& comm, const GravityParameters& parameters)
      : comm_(comm), parameters_(parameters), critical_separation_(parameters.critical_separation) {}

  const GravityParameters& parameters() const { return parameters_; }
  /// Potentials that act on the particles from the next evaluation on, beside their own gravity: part of
  /// accelerations, and so of |a_old|, not of potentials. The same on every rank.
  void set_external(std::vector<ExternalPotential> potentials) { external_ = std::move(potentials); }
  ExternalField external() const { return {external_.data(), static_cast<int>(external_.size())}; }

  /// Grows the trees of the own leaves, exchanges what the ranks' walks need of each other, and walks; or
  /// sums directly, if there are fewer particles than parameters.direct_below.
  ///
  /// particles (in/out): those of the own leaves, leaf by leaf as domain.leaf_begin says; reordered inside
  /// leaves when trees grow; acceleration, potential, old_acceleration and work of the active ones are set.
  /// domain (in): the decomposition of
  /// just these particles, which may have moved since. records (optional): as decompose() gives them,
  /// used up; the particles themselves may then be in any order before. timers: adds to build, sort,
  /// moments, let, walk, and wait, for slower ranks. Collective. InputError on all ranks if single
  /// precision cannot hold the forces or the separations (gravity/resolution.hpp). Cost: O(N/P log N), and
  /// messages for a surface of the rank's part of space.
  ForceReport evaluate(Particles& particles, const Domain& domain, PhaseTimers& timers,
                       Array<Record> records = {}, const EvaluationPlan& plan = {});

  /// Frees the trees. The next evaluation has to grow new ones.
  void forget_trees() { forest_ = {}; }
  /// Collective. The trees of own leaves that others own from now on go there, as they are. from, to: first
  /// leaf of each rank, length P + 1; leaf_begin: Domain::leaf_begin with the new runs.
  void move_leaves(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                   std::span<const Count> leaf_begin);

  GravityState state() const { return {setup_, critical_separation_}; }
  const Forest& forest() const { return forest_; }
  /// Goes on between two evaluations. trees: of the own leaves; leaf_begin: Domain::leaf_begin.
  void restore(const GravityState& state, Forest::Shape trees, std::span<const Count> leaf_begin);

 private:
  GravitySetup agree_on_setup(const Particles& particles, const Domain& domain) const;
  void update(const Particles& particles, const Domain& domain, bool checks, int first_active,
              PhaseTimers& timers);
  void walk(Particles& particles, const Domain& domain, const EvaluationPlan& plan, ForceReport& report,
            PhaseTimers& timers);
  void tune_groups(const Domain& domain, const Particles& particles);
  void build(Particles& particles, const Domain& domain, Array<Record> records, PhaseTimers& timers);
  std::vector<TargetBounds> publish(const Domain& domain);
  std::vector<Message> select(const Domain& domain, const WalkUnits& units,
                              std::span<const TargetBounds> bounds) const;
  void import(const std::vector<Message>& messages, const Domain& domain, ForceReport& report);

  const Communicator& comm_;
  GravityParameters parameters_;
  std::vector<ExternalPotential> external_;
  double critical_separation_;  ///< of parts of groups; 0: not known yet
  GravitySetup setup_;
  Forest forest_;
  TopMoments top_;
  std::vector<Vec3d> origins_;     // by number of the leaf in the ORB
  std::vector<SourceTree> trees_;  // by number of the leaf in the ORB
};

}  // namespace grove
