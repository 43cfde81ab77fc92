#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_balance.hpp"
#include "decomposition/whole_cells.hpp"
#include "gravity/gravity.hpp"

namespace grove {

/// Moves leaves between the ranks of a run where LeafBalance says that it pays. The master decides. Every
/// call but walked(), decomposed() and join() is collective; alone a rank does nothing in any.
class LeafMoves {
 public:
  LeafMoves(const Communicator& comm, MoveRates rates) : comm_(comm), balance_(comm.size(), rates) {}

  /// A step was walked. particles: of this rank. timers: of the step.
  void walked(const ForceReport& forces, Count particles, const PhaseTimers& timers);
  /// Leaves were shared out by a decomposition. now: in longest steps since the begin of the run.
  void decomposed(double now);
  /// After the last step of a longest step: all particles are synchronised.
  void synchronised();
  /// After each step: adds what has to be agreed on. now: when the next step ends.
  void join(JointReduction& joint, double now);

  /// For the decomposition that comes now: DecompositionParameters::speeds.
  std::vector<std::uint32_t> speeds();
  /// And DecompositionParameters::particle_cost.
  std::uint32_t particle_cost();
  /// Before the walk of the first step in a longest step, if there was no decomposition: moves what pays.
  /// Returns how many leaves that were. Adds to move and wait.
  Count move(Backend& backend, Domain& domain, double now, PhaseTimers& timers);

 private:
  struct Choice {
    std::vector<int> to;  ///< the rank that each own whole cell goes to
    Count particles = 0;  ///< most_moved(); on the master
  };
  /// Chooses what moves, if that pays. Nothing moves where ranks have 2^28 whole cells or more together.
  /// Memory: the master holds some five numbers for each whole cell of all ranks.
  std::optional<Choice> choose(const Backend& backend, const Domain& domain, const WholeCells& cells,
                               double now);

  const Communicator& comm_;
  LeafBalance balance_;
  RankSteps steps_;      ///< of this rank in the longest step under way
  bool is_due_ = false;  ///< to be looked at before the next walk
  int may_pay_ = 0;      ///< the master says so
};

}  // namespace grove
