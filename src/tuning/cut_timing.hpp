#pragma once

#include "base/types.hpp"

namespace grove {

/// When all is to be cut anew, while parts are rebuilt: before the first step whose expected cost beyond
/// that of a fresh decomposition is above the mean of such costs per step since the last cuts, with what
/// these cost. With the right expectation that gives the least mean cost per step, whatever the growth.
///
/// Expected are the growth of the last steps, those before counting half of the next each, times what the
/// step costs when fresh, and the mean cost of rebuilds.
class CutTiming {
 public:
  /// True if it pays to cut before a step that costs so much when fresh. cut_cost: of the cuts; one unit for
  /// all.
  bool pays(double cut_cost, double fresh_cost) const {
    if (steps_ == 0) return false;
    const double steps = static_cast<double>(steps_);
    const double growth = steps_ == 1 ? first_growth_ : fresh_ > 0 ? excess_ / fresh_ : 0;
    return growth * fresh_cost + rebuilds_ / steps > (cut_cost + spent_) / steps;
  }

  void cut() {
    const double known = first_growth_;
    *this = {};
    first_growth_ = known;
  }

  /// A step was done, in which rebuilds of parts cost this on top of `cost`.
  void step(double cost, double fresh_cost, double rebuilds) {
    if (steps_ == 1) first_growth_ = cost / fresh_cost - 1;
    if (steps_ > 0) {
      excess_ = 0.5 * excess_ + cost - fresh_cost;
      fresh_ = 0.5 * fresh_ + fresh_cost;
    }
    rebuilds_ += rebuilds;
    spent_ += cost - fresh_cost + rebuilds;
    ++steps_;
  }

 private:
  Count steps_ = 0;                  ///< since the cuts
  double spent_ = 0, rebuilds_ = 0;  ///< in these
  double first_growth_ = 0;          ///< of the second step after the cuts before these
  double excess_ = 0, fresh_ = 0;    ///< of the last ones, weighted; the fresh one left out
};

}  // namespace grove
