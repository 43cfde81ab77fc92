#pragma once

#include "tuning/repair.hpp"
#include "tuning/running_median.hpp"

namespace grove {

/// What a step took of the clock, seconds on the slowest rank.
struct StepSeconds {
  double trees;   ///< to refit trees, or to make new ones, with their leaves
  double forces;  ///< to exchange and to walk them
};

/// What repairs of trees cost in interactions: first as assumed, then as measured. A repair's seconds, less
/// those of a refit, are worth the interactions that the forces of this run get in that time. Of each kind of
/// repair it is measured how many times dearer it is than assumed, and the median of the last ones counts,
/// from the third on: so a step that something else has held up does not.
class RepairPrices {
 public:
  RepairPrices() : RepairPrices(RepairRates{}) {}
  explicit RepairPrices(const RepairRates& assumed) : assumed_(assumed), rates_(assumed) {}

  const RepairRates& rates() const { return rates_; }

  /// A step was done, with this repair, new trees for so many particles, so many interactions of all ranks.
  void add(Repair repair, double particles, double interactions, const StepSeconds& seconds);

 private:
  RepairRates assumed_, rates_;
  RunningMedian refit_;           ///< seconds
  RunningMedian speed_;           ///< interactions per second, by interactions
  RunningMedian rebuild_, cuts_;  ///< price over the assumed one
};

}  // namespace grove
