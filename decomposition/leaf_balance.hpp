#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "decomposition/rank_speeds.hpp"

namespace grove {

/// Seconds that it takes to move leaves, at first guess.
struct MoveRates {
  double once;          ///< however few
  double per_particle;  ///< of the rank that gives and takes most
};

/// Shares the leaves out by measured time, of walks and of what steps do for all particles: which runs the
/// ranks should have for the longest steps to come, and whether it pays to move leaves for that before the
/// next decomposition, which shares all out anyway.
///
/// A choice must save a thirty-second of the time by the speeds of each longest step that is remembered. So
/// an event in one step alone moves nothing, and speeds that scatter around equal ones move nothing to and
/// fro. The work that a rank gets for its speed is bounded (most_of_mean), as its memory is. Runs of leaves
/// never change a bit of any result. One rank decides for all: its clock is not that of the others.
class LeafBalance {
 public:
  LeafBalance(int ranks, MoveRates rates) : rates_(rates), in_force_(static_cast<std::size_t>(ranks), 1.0) {}

  /// A longest step was made. steps: by rank.
  void stepped(std::span<const RankSteps> steps);
  /// Leaves were shared out by a decomposition. now: in longest steps since the begin of the run.
  void decomposed(double now);
  /// Leaves were moved, which took the slowest rank so long. particles: most_moved().
  void moved(Count particles, double seconds);

  /// For the decomposition that comes now: speeds of the ranks (DecompositionParameters::speeds).
  std::vector<std::uint32_t> speeds_of_shares();
  /// And what a particle costs in each step (DecompositionParameters::particle_cost). It stays as it is until
  /// another one is seen to be a quarter more or less, so that shares do not follow the noise of clocks.
  std::uint32_t particle_cost();

  /// True if any other runs could pay now: a first look, before the work of leaves is gathered. It knows no
  /// leaves, so it may be wrong again and again, where ranks have few large ones. After a choice that was
  /// refused it says no until the next longest step, after a second one for 2, then 4, 8, ..., but only while
  /// times change by less than a thirty-second and there is no decomposition. A change or a move ends that.
  bool may_pay(double now) const;
  /// The runs to be had from now on, if moving leaves for them pays, as is then to be done. interactions,
  /// particles: by whole cell (WholeCells), rank by rank, the former in a longest step; current: first one of
  /// each rank, length P + 1.
  std::optional<std::vector<std::int32_t>> choose(std::span<const Count> interactions,
                                                  std::span<const Count> particles,
                                                  std::span<const std::int32_t> current, double now);

 private:
  /// Seconds of the last longest step, by typical speeds.
  struct Times {
    double longest = 0;  ///< of a rank
    double least = 0;    ///< if each rank had its perfect share

    bool differ_from(const Times& o) const;  ///< by more than noise
  };
  /// A choice that did not pay.
  struct Refusal {
    Times times;
    double until;  ///< longest steps since the begin of the run
  };

  Times times() const;
  double work(const RankSteps& steps) const {
    return static_cast<double>(steps.walk.interactions) +
           static_cast<double>(particle_cost_) * static_cast<double>(steps.particles);
  }
  void refuse(double now);
  double steps_left(double now) const;
  double cost(Count particles) const {
    return slowness_ * (rates_.once + rates_.per_particle * static_cast<double>(particles));
  }
  bool pays(double before, double after, double cost, double now) const;

  MoveRates rates_;
  double slowness_ = 1;  ///< what moves took over what `rates_` say
  RankSpeeds speeds_;
  std::vector<RankSteps> last_;                   ///< by rank, of the last longest step
  std::vector<double> in_force_;                  ///< in the last decomposition
  std::uint32_t particle_cost_ = 0;               ///< likewise
  double last_decomposition_ = 0, interval_ = 0;  ///< longest steps; 0: there was one decomposition at most
  bool is_decomposed_ = false;
  std::optional<Refusal> refused_;
  double pause_ = 1;  ///< longest steps, after the next refusal
};

}  // namespace grove
