#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace grove {

/// The walk of a rank: interactions and seconds.
struct Walked {
  Count interactions = 0;
  double seconds = 0;  ///< 0: that is not known

  Walked& operator+=(const Walked& o) {
    interactions += o.interactions, seconds += o.seconds;
    return *this;
  }
};

/// The work of a rank in some steps.
struct RankSteps {
  Walked walk;
  Count particles = 0;       ///< own ones, added up over the steps
  double other_seconds = 0;  ///< that steps took beside walks and messages: these move, and trees with them

  RankSteps& operator+=(const RankSteps& o) {
    walk += o.walk;
    particles += o.particles, other_seconds += o.other_seconds;
    return *this;
  }
};

/// How fast the ranks walk, of the last longest steps: a whole one has all rungs, so its speed
/// says how long the next will take. Steps in which a rank has little to do are a part of it and count as
/// much as they take.
class RankSpeeds {
 public:
  /// Longest steps that are remembered. One of them alone has noise.
  static constexpr std::size_t remembered = 3;

  /// A longest step was made. steps: by rank. A rank that had nothing to walk comes
  /// closer to the median of the others each time, so it gets leaves again one day. A step in
  /// which no rank has seconds tells nothing.
  void add(std::span<const RankSteps> steps);

  bool are_known() const { return seen_.size() == remembered; }
  /// Interactions per second of each rank: medians of what is remembered.
  std::vector<double> typical() const;
  /// The measurements that are kept, the last one first; each by rank.
  const std::deque<std::vector<double>>& seen() const { return seen_; }
  /// The interactions that take as long as what a step does for one particle beside walks, of all ranks
  /// together: the median of what is remembered; at least 0.
  double particle_cost() const;

 private:
  std::deque<std::vector<double>> seen_;
  std::deque<double> costs_;  ///< of a particle, likewise
};

}  // namespace grove
