#pragma once

#include <functional>
#include <optional>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"
#include "decomposition/rank_speeds.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/opening.hpp"
#include "let/let_message.hpp"

namespace grove {

/// The choices that a caller has for one evaluation of forces.
struct EvaluationPlan {
  /// True: new trees are built. This is needed after decompose(). False: the trees of the last evaluation get
  /// the moments and boxes of the particles' present places.
  bool grows = true;
  /// True: ranks have just waited for each other, so the evaluation need not begin with that.
  bool follows_cuts = false;
  /// The trees are cut anew that TreeRenewal takes for particles from this rung on. Only of bisections.
  std::optional<int> renewed_from = {};
  int first_active = 0;  ///< the rung (Particles::rung) from which on particles get forces
  Count active = 0;      ///< how many these are on all ranks; only read if first_active > 0
  /// True: the critical separation of least cost is looked for behind the walk, if groups may be split and
  /// the parameters set none. Cost: some 15 walks of all particles.
  bool tunes_groups = false;
  /// Called when forces are there, if it is set: adds what is to be agreed on with the report, in the same
  /// message. is_complete: none are missing on this rank; false: it is called again when they are there.
  /// Nobody has looked whether they are finite.
  std::function<void(JointReduction& joint, bool is_complete)> closes = {};
};

/// The work and the outcome of one evaluation of forces. Values are sums over all ranks, the same on every
/// rank, unless a line says otherwise.
struct ForceReport {
  Count particles = 0;
  Count active = 0;                ///< particles that got forces
  RungCounts active_of{}, work{};  ///< active particles by rung, and their interactions
  Count not_finite = 0;            ///< active particles whose acceleration is no finite number
  WalkCounts interactions;
  Count busiest = 0;  ///< interactions of the rank that has most
  Walked own;         ///< of this rank alone; of direct sums no seconds, as ranks wait for each other in them
  LetCounts let;      ///< received: trees, nodes, particles
  Count let_bytes = 0;  ///< received
  /// Nodes and particles that a rank received, over its share N/P of the particles; mean over ranks.
  double let_fraction = 0;
  float median_acceleration = 0;   ///< of |a_old|; 0 where the criterion does not need it
  bool stands_in = false;          ///< for a criterion that needs |a_old|, as there was none yet
  double critical_separation = 0;  ///< that parts of groups reached; 0: groups were not split

  /// Turns what each rank counted into sums over all ranks, and keeps its own interactions. joint: what
  /// travels with them. is_complete: all forces of this rank are there; if they are not on all ranks, returns
  /// false and changes no sum. Collective. Cost: one reduction.
  bool add_over_ranks(const Communicator& comm, JointReduction joint, bool is_complete);
};

}  // namespace grove
