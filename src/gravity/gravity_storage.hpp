#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "base/types.hpp"
#include "decomposition/domain.hpp"
#include "forest/forest.hpp"
#include "gravity/resolution.hpp"
#include "kernels/host/walk.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/potentials.hpp"
#include "let/let_keeping.hpp"
#include "let/let_message.hpp"

namespace grove {

/// Values that all ranks agree on before they walk. They last as long as trees do, but for steps in which all
/// particles are active: those agree anew.
struct GravitySetup {
  WalkSetup walk;
  Count particles = 0;
  double far_delta = 0;  ///< the delta of walks beside which far cells act through expansions
  Count least_far = 0;   ///< active particles, from which on far cells do
  /// Interactions of a target, as expected; 0: as many as in its last walk.
  Count target_work = 0;
  static constexpr Count unknown_work = -1;
  float median_acceleration = 0;  ///< of |a_old|
  bool stands_in = false;         ///< the forces are to stand in for those of a criterion that needs |a_old|
};

/// How the parts of trees that ranks send each other are selected. kept: they may be those of an earlier
/// walk, selected with room for drift. exact: for this walk, which finds all that it opens. again: exact,
/// after a walk with kept ones lacked something.
enum class Selections { kept, exact, again };

/// The wish that this is to LetKeeping. Forces that stand in for others have other tolerances.
inline LetKeeping::Wish wish_of(Selections selections, const GravitySetup& setup) {
  if (selections == Selections::again) return LetKeeping::Wish::again;
  return selections == Selections::kept && !setup.stands_in ? LetKeeping::Wish::keep
                                                            : LetKeeping::Wish::exact;
}

/// The particles of this rank and their trees, in the memory of the host or of a GPU: the passes that
/// Gravity::evaluate() is made of, in the order in which they come there. They are collective, but where they
/// say otherwise. Errors of one rank are agreed on, so that all ranks end together (Communicator::together).
class GravityStorage {
 public:
  virtual ~GravityStorage() = default;

  /// New trees of the own leaves. It comes first after a decomposition, which leaves particles in disorder.
  /// Adds to build and sort.
  virtual void grow(const Domain& domain, PhaseTimers& timers) = 0;
  /// Sums and extremes over the particles of all ranks.
  struct Sums {
    Count particles = 0;
    double largest_mass = 0;
    float median_acceleration = 0;  ///< rough_median() of |a_old|; 0: it was not asked for
  };
  /// last_median: that of an earlier call, near which the new one is looked for first; 0: there was none.
  virtual Sums reduce(bool with_median, float last_median) const = 0;
  /// Only asked for where a message names it.
  virtual FarParticle farthest() const = 0;

  struct RefitPlan {
    int first_active;  ///< the rung from which on particles are targets
    /// First those trees are cut anew that TreeRenewal takes for particles from this rung on.
    std::optional<int> renewed_from;
    bool checks;  ///< whether single precision loses separations on this rank: fault_of_separations()
  };
  /// Moments and boxes of the particles' present places. Adds to moments, and hosts what renewals take to
  /// build.
  virtual void refit(const GravitySetup& setup, const Domain& domain, const RefitPlan& plan,
                     PhaseTimers& timers) = 0;

  /// Chooses the groups that walk, those with particles from this rung on; for a walk again, they are those
  /// of the last one. A GPU begins to walk the own trees, beside the passes that come next.
  virtual void begin_walk(const GravitySetup& setup, const Domain& domain, int first_active,
                          Selections selections) = 0;
  /// Tells all ranks the roots and bounds of the own leaves, and makes the moments of the cells above them.
  /// Adds to let and wait.
  virtual void publish(const GravitySetup& setup, const Domain& domain, Selections selections,
                       PhaseTimers& timers) = 0;
  /// Chooses what walks of other ranks need of the own trees. On the host that is under way from here on.
  virtual void select(const GravitySetup& setup, const Domain& domain) = 0;
  /// Lets the own trees act. A GPU is at it already, and counts with the others. Adds to own walk.
  virtual WalkCounts walk_own(const GravitySetup& setup, PhaseTimers& timers) = 0;
  /// Parts of trees that came from other ranks.
  struct Imported {
    LetCounts counts;
    Count bytes = 0;
  };
  virtual Imported import(const GravitySetup& setup, const Domain& domain) = 0;
  /// Lets the cells above and the trees of other leaves act. Adds to own walk (GPU) and other walk. Not
  /// collective: throws what is wrong on this rank alone, OpensPruned if selections lack something; then
  /// nothing of its forces counts.
  virtual WalkCounts walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) = 0;
  /// Walks all particles again, through all that is there after walk_others(), and keeps no forces: counts
  /// of the own trees, and of the others.
  virtual std::array<WalkCounts, 2> try_walk(const GravitySetup& setup, const Domain& domain) = 0;
  /// Parts of trees of other ranks are not needed any more.
  virtual void end_walk() = 0;

  /// After the walk: what lost_separation() found wrong on this rank in the last refit(), which finds it
  /// while nobody waits; empty: nothing, or that did not check. Not collective.
  virtual std::string fault_of_separations(const GravitySetup& setup) const = 0;

  /// In place of all from refit() on: direct summation over the particles of all ranks. Adds to other walk.
  virtual void sum_directly(const GravitySetup& setup, const Domain& domain, int first_active,
                            PhaseTimers& timers) = 0;

  /// In place of that where particles do not attract each other.
  virtual void set_no_forces(int first_active) = 0;

  /// In a periodic box: prepares what no walk sees, for the particles' present places: images that are far
  /// off (kernels/math/far_images.hpp), and, if Images::expands_far(), cells that are
  /// (kernels/math/far_cells.hpp). In the latter case it follows refit(), and add_far() the walk.
  virtual void find_far(const GravitySetup& setup, const Domain& domain) = 0;
  /// Adds that to the new forces. Not collective.
  virtual void add_far(const Domain& domain, int first_active) = 0;

  /// Counts of the active particles of this rank.
  struct Remembered {
    RungCounts particles{}, interactions{};  ///< by rung
    Count not_finite = 0;                    ///< particles
  };
  /// Adds external potentials to the new accelerations, and keeps what the next evaluation needs of them. Not
  /// collective, nor is the next one.
  virtual void remember(int first_active) = 0;
  /// Counts of the last call. A GPU may be at it still: then this waits, unless something else has.
  virtual Remembered remembered() const = 0;
  /// Potentials that act from the next evaluation on. The same on every rank.
  virtual void set_external(std::vector<ExternalPotential> potentials) = 0;

  /// The tables of the last evaluation, those in the memory of the host.
  virtual TableBytes tables() const { return {}; }

  /// Everything that it keeps from one evaluation to the next beside the particles.
  struct State {
    Forest::Shape trees;  ///< of the own leaves; origins on the host alone
  };
  /// Not collective.
  virtual State state(const Domain& domain) const = 0;
  /// Collective. Goes on from there, with the particles of just this domain.
  virtual void restore(State state, const Domain& domain) = 0;
};

}  // namespace grove
