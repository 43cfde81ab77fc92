#pragma once

#include <array>
#include <optional>
#include <span>

#include "gravity/block_excess.hpp"
#include "gravity/gravity.hpp"
#include "time/block_clock.hpp"
#include "tuning/cut_timing.hpp"
#include "tuning/rebuild_above.hpp"
#include "tuning/tree_update.hpp"
#include "tuning/tree_update_prices.hpp"

namespace grove {

/// Decides how trees follow the particles: from counted interactions, so the same on any number of ranks
/// while prices of tree updates are assumed ones, and not measured.
///
/// All is cut anew at the latest when the walks since the last cuts have cost as much as most_cuts_walked
/// cuts, which costs 3 % more at most, for two reasons. Cuts that stay keep the errors of the large nodes,
/// which add up to a torque (docs/measurements/accuracy.md, "Torques"). And how much dearer aged trees are is
/// judged against what was seen of fresh ones, which says nothing where much changes at once: in the bounce
/// of a collapse most particles are on rungs that no fresh tree has seen, and trees of before it would be
/// kept through it, at twice the cost and the error.
class TreeTuning {
 public:
  /// All there is to save, beside the rule: restored from it, the answers are the same to the bit.
  /// Trivially copyable.
  struct State {
    TreeUpdatePrices prices;
    TreeUpdateChoice::State choice;  ///< where all leaves are rebuilt together
    CutTiming cuts;                  ///< where blocks are, one by one
    TreeUpdate last;
    double particles;                      ///< of the run
    double rebuilt;                        ///< of these got new trees for the step under way
    Count since_rebuild;                   ///< steps since blocks were rebuilt
    Count age;                             ///< steps since the last decomposition
    double walked;                         ///< interactions since the last decomposition
    StepWork step;                         ///< the one under way
    std::array<double, rung_count> fresh;  ///< interactions per particle in fresh trees; 0: not known yet
  };

  /// When all is cut anew, with nothing but refits between; neither: whatever costs least.
  struct Rule {
    Count interval = 0;                 ///< steps from one decomposition to the next
    std::optional<RebuildAbove> above;  ///< or by what the walks cost
  };

  /// rates: assumed prices.
  TreeTuning(TreeUpdateRates rates, Rule rule) : prices_(rates), rule_(rule) {}
  TreeTuning(const State& state, Rule rule);
  State state() const;
  const Rule& rule() const { return rule_; }

  const TreeUpdateRates& rates() const { return prices_.rates(); }
  /// Those by which updates are chosen: interactions beyond those of fresh trees count excess_weight times.
  TreeUpdateRates chosen_by() const;

  /// Learns from the first forces of a run. have_rungs: the particles are on the rungs that they will have,
  /// as where all share one step; else the rule of rebuilds looks at the first steps for its reference.
  void began(const ForceReport& forces, bool have_rungs);
  /// The update before the walk of the step that ends now. particles: by rung; deepest: the deepest rung of
  /// these, which the next steps will have, too; due: of the blocks before that walk.
  TreeUpdate plan(const RungCounts& particles, const BlockClock& clock, int deepest,
                  const BlockExcess::Due& due);
  /// That this will be done.
  void begin(TreeUpdate update, const BlockExcess::Due& due);
  /// After that walk. seconds: the same on all ranks; none: prices stay.
  void walked(const ForceReport& forces, const std::optional<StepSeconds>& seconds);

  static constexpr double most_cuts_walked = 32;  ///< see above
  /// Aged trees are not only dearer: shear draws their nodes out along the motion, so that errors follow it
  /// and add up (docs/measurements/accuracy.md, "Tuned trees beside fixed intervals").
  static constexpr double excess_weight = 2;

 private:
  /// Learns the cost of forces by rung, after new cuts or not.
  void learn(const ForceReport& forces);
  TreeUpdate choose(std::span<const StepWork> coming, const BlockExcess::Due& due) const;
  double fresh_of(std::size_t rung) const;
  /// Interactions that a step costs in fresh trees.
  double fresh_cost(const RungCounts& particles, int first_active) const;

  TreeUpdatePrices prices_;
  Rule rule_;
  TreeUpdateChoice choice_;  ///< where all leaves are rebuilt together
  CutTiming cuts_;           ///< where blocks are, one by one
  TreeUpdate last_ = TreeUpdate::redecompose;
  double particles_ = 0;                    ///< of the run
  double rebuilt_ = 0;                      ///< of these got new trees for the step under way
  Count since_rebuild_ = 0;                 ///< steps since blocks were rebuilt
  Count age_ = 0;                           ///< steps since the last decomposition
  double walked_ = 0;                       ///< interactions since the last decomposition
  StepWork step_{};                         ///< the one under way
  std::array<double, rung_count> fresh_{};  ///< interactions per particle in fresh trees; 0: not known yet
};

}  // namespace grove
