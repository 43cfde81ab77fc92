#pragma once

#include "tuning/running_median.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// The time of a step, seconds on the slowest rank.
struct StepSeconds {
  double trees;   ///< to refit trees, or to make new ones, with their leaves
  double forces;  ///< to exchange and to walk them
};

/// The price of new cuts and trees in interactions per particle: first as assumed, then as measured. Their
/// seconds, less those of a refit or a renewal, are worth the interactions that the forces of this run get in
/// that time. The median of the last ones counts, from the third on, so a step that something else has held
/// up does not.
class RedecompositionPrice {
 public:
  explicit RedecompositionPrice(double assumed = 0) : rate_(assumed) {}

  double rate() const { return rate_; }

  /// A step of so many particles was done, with this update, and so many interactions of all ranks.
  void add(TreeUpdate update, double particles, double interactions, const StepSeconds& seconds);

 private:
  double rate_;
  RunningMedian refit_;     ///< seconds
  RunningMedian speed_;     ///< interactions per second, by interactions
  RunningMedian measured_;  ///< prices
};

}  // namespace grove
