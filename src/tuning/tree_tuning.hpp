#pragma once

#include <array>
#include <optional>
#include <span>

#include "gravity/gravity.hpp"
#include "kernels/math/coming_steps.hpp"
#include "tuning/rebuild_above.hpp"
#include "tuning/rebuild_interval.hpp"
#include "tuning/redecomposition_price.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// Decides how trees follow the particles: from counted interactions, so the same on any number of ranks
/// while the price of new cuts is the assumed one, and not measured.
///
/// New trees lead to the middle of their life (LedPositions), but under the published rule of rebuilds.
///
/// All is cut anew at the latest when the walks since the last cuts have cost as much as most_cuts_walked
/// cuts, which costs 3 % more at most, for two reasons. Cuts that stay keep the errors of the large nodes,
/// which add up to a torque (docs/measurements/accuracy.md, "Torques"). And how much dearer aged trees are is
/// judged against what was seen of fresh ones, which says nothing where much changes at once: in the bounce
/// of a collapse most particles are on rungs that no fresh tree has seen, and trees of before it would be
/// kept through it, at twice the cost and the error.
///
/// There the growth is not that of the last intervals either, and trees that lead beyond the bounce are bad
/// from their begin. So all is also cut anew when walks have cost most_cuts_lost cuts more than fresh trees
/// would have taken, where well-timed cuts come at one or less. The growth that was known then counts little,
/// the next trees lead to the middle of a life as long as that one was, and each that reaches it lets others
/// live twice as long. RebuildInterval::pays() knows nothing of that limit: it may make new ones earlier.
class TreeTuning {
 public:
  /// All there is to save, beside the rule: restored from it, the answers are the same to the bit.
  /// Trivially copyable.
  struct State {
    RedecompositionPrice price;
    RebuildInterval::State interval;
    double particles;                      ///< of the run
    double walked;                         ///< interactions since the last decomposition
    double lost;                           ///< those beyond what fresh trees would have taken
    std::int64_t life;                     ///< the longest that new trees are made for, in steps
    StepWork step;                         ///< the one under way
    std::array<double, rung_count> fresh;  ///< interactions per particle in fresh trees; 0: not known yet
  };

  /// When all is cut anew; neither: whatever costs least.
  struct Rule {
    Count interval = 0;                 ///< steps from one decomposition to the next
    std::optional<RebuildAbove> above;  ///< or by what the walks cost
  };

  /// rate: the assumed price of new cuts and trees, interactions per particle.
  TreeTuning(double rate, Rule rule) : price_(rate), rule_(rule) {}
  TreeTuning(const State& state, Rule rule);
  State state() const;
  const Rule& rule() const { return rule_; }

  /// That of now.
  double rate() const { return price_.rate(); }

  /// Learns from the first forces of a run. have_rungs: the particles are on the rungs that they will have,
  /// as where all share one step; else the rule of rebuilds looks at the first steps for its reference.
  void began(const ForceReport& forces, bool have_rungs);
  /// The work on the trees before a walk.
  struct Choice {
    TreeUpdate update = TreeUpdate::redecompose;
    double lead = 0;  ///< of new trees, in steps
  };
  /// That before the walk of the step that ends now. particles: by rung; coming: that step and the next ones.
  Choice plan(const RungCounts& particles, const ComingSteps& coming);
  /// That this will be done.
  void begin(const Choice& choice);
  /// After that walk. seconds: the same on all ranks; none: the price stays.
  void walked(const ForceReport& forces, const std::optional<StepSeconds>& seconds);

  /// True if a walk, of which these are the forces, took much_aged times as many interactions as in fresh
  /// trees. The same on all ranks.
  bool have_aged(const ForceReport& forces) const;

  static constexpr double much_aged = 1.5;
  static constexpr double most_cuts_walked = 32, most_cuts_lost = 1.5;  ///< see above

 private:
  void learn(const ForceReport& forces);
  bool are_due(std::span<const StepWork> coming) const;
  double lead(std::span<const StepWork> coming) const;
  double price_of_cuts() const { return rate() * particles_; }
  bool is_lost() const { return lost_ >= most_cuts_lost * price_of_cuts(); }
  double fresh_of(std::size_t rung) const;
  /// Interactions that a step costs in fresh trees.
  double fresh_cost(const RungCounts& particles, int first_active) const;

  RedecompositionPrice price_;
  Rule rule_;
  RebuildInterval interval_;
  double particles_ = 0;                          ///< of the run
  double walked_ = 0;                             ///< interactions since the last decomposition
  double lost_ = 0;                               ///< those beyond what fresh trees would have taken
  std::int64_t life_ = RebuildInterval::longest;  ///< the longest that new trees are made for, in steps
  StepWork step_{};                               ///< the one under way
  std::array<double, rung_count> fresh_{};  ///< interactions per particle in fresh trees; 0: not known yet
};

}  // namespace grove
