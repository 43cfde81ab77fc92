#pragma once

#include "tuning/running_median.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// The time of a step, seconds on the slowest rank.
struct StepSeconds {
  double trees;   ///< to refit trees, or to make new ones, with their leaves
  double forces;  ///< to exchange and to walk them
};

/// The cost of updates of trees in interactions: first as assumed, then as measured. The seconds of an
/// update, less those of a refit, are worth the interactions that the forces of this run get in that time.
/// Each kind of update is measured: how many times dearer it is than assumed. The median of the last ones
/// counts, from the third on, so a step that something else has held up does not.
class TreeUpdatePrices {
 public:
  TreeUpdatePrices() : TreeUpdatePrices(TreeUpdateRates{}) {}
  explicit TreeUpdatePrices(const TreeUpdateRates& assumed) : assumed_(assumed), rates_(assumed) {}

  const TreeUpdateRates& rates() const { return rates_; }

  /// A step was done, with this update, new trees for so many particles, so many interactions of all ranks.
  void add(TreeUpdate update, double particles, double interactions, const StepSeconds& seconds);

 private:
  TreeUpdateRates assumed_, rates_;
  RunningMedian refit_;           ///< seconds
  RunningMedian speed_;           ///< interactions per second, by interactions
  RunningMedian rebuild_, cuts_;  ///< price over the assumed one
};

}  // namespace grove
