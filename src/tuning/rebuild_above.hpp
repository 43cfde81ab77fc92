#pragma once

#include <array>

#include "base/types.hpp"
#include "gravity/force_report.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

/// Rebuilds when interactions per active particle exceed (1 + above) times those just after the last rebuild.
///
/// Particles are compared with those of their own rung: deep rungs are the dense parts and cost several times
/// as many interactions, so a mean over all active particles would change with the rungs that are active. A
/// verdict is passed once as many particles have been walked as there are, which is after each step where all
/// have one step: a deep rung may have three particles, whose scatter would rebuild the trees of all, and a
/// rebuild costs as much as so many. The first verdict after a rebuild keeps its counts as the reference. A
/// rung that was not active until then joins with its first counts, less the growth of the others up to then.
///
/// From counted interactions alone, so the same on any number of ranks. Source of the rule: Kofler et al.
/// 2014, "Kd-tree based N-body simulations with volume-mass heuristic on the GPU", with above = 0.2.
class RebuildAbove {
 public:
  /// All there is to save: restored from it, the answers are the same to the bit. Trivially copyable.
  struct State {
    std::array<double, rung_count> fresh{};  ///< interactions per particle after the rebuild; 0: not known
    RungCounts active{}, work{};             ///< since the last verdict: particles walked, interactions
    bool is_due = false;                     ///< before the next step all is rebuilt
  };

  explicit RebuildAbove(double above) : above_(above) {}
  RebuildAbove(double above, const State& state) : above_(above), state_(state) {}
  const State& state() const { return state_; }

  bool is_due() const { return state_.is_due; }
  /// Before the next step all is rebuilt.
  void rebuilt() { state_ = {}; }
  /// Forces were evaluated, of particles that are on their rungs.
  void walked(const ForceReport& forces);

 private:
  double growth() const;
  void pass_verdict();

  double above_;
  State state_;
};

}  // namespace grove
