#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "time/growth_fit.hpp"

namespace grove {

/// When to build something anew whose ageing makes steps dearer (the trees; the cuts): so that the mean cost
/// per step, (build + the costs of the steps until the next build) / steps, is least.
///
/// The relative cost of a step, cost / what the same active particles would cost with a fresh build, is
/// fitted over the age by best_growth_fit; steps weigh as much as they cost, so that those of few particles,
/// which scatter, hardly count. Steps of the last intervals stay in the fit with a weight that falls by an
/// eighth at each build: a new interval is thus judged from its begin, and short ones are fitted well.
///
/// With block time steps the best moment is just before a dear step, not after a fixed number of steps:
/// pays() looks at what the coming steps cost. Builds at a fixed age cost up to 20 % more.
///
/// All input is counted work in one unit of the caller's (interactions, say), the same on every rank; so is
/// then every answer. Source of the fits and of the mean cost: Miki & Umemura 2017, New Astronomy 52, 65.
class RebuildInterval {
 public:
  /// A build at the latest after so many steps: what an even longer interval could save is below 1/1024 of
  /// the build per step.
  static constexpr std::int64_t longest = 1024;
  /// Coming steps that are looked at; later ones are taken to cost the mean.
  static constexpr std::size_t horizon = 32;
  /// Ages that are told apart: 0 .. 15, then 8 of each octave up to `longest`.
  static constexpr std::size_t ages = 64;

  /// Steps of about one age, older intervals with their lower weight; each a sum over steps.
  struct AgeClass {
    double fresh_cost, fresh_cost_times_age, cost;
    bool operator==(const AgeClass&) const = default;
  };

  /// All there is to save: restored from it, the answers are the same to the bit. Trivially copyable.
  struct State {
    std::array<AgeClass, ages> classes;
    double cycle_cost, mean_cost;  ///< fresh cost of the steps of this cycle; per step of the last whole one
    std::int64_t cycle_steps;      ///< of this cycle so far
    std::int64_t age, builds;      ///< steps since the last build; builds so far
    bool operator==(const State&) const = default;
  };

  RebuildInterval() : state_{} {}
  explicit RebuildInterval(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  /// Before the next step all is built anew.
  void built();

  /// A step was done; costs positive, in the caller's unit. fresh_cost: what it would have cost directly
  /// after a build. end_of_cycle: all particles were active, and a cycle of block time steps ends.
  void step(double cost, double fresh_cost, bool end_of_cycle);

  /// Whether to build before the next step. build_cost: of one build, in the unit of the steps' costs.
  /// coming: the fresh costs expected of the next steps, next one first; as many as are known, those beyond
  /// `horizon` are not read. Never directly after a build; always at age `longest`; not before three ages are
  /// known. Cost: one fit and some 600 additions, microseconds.
  bool pays(double build_cost, std::span<const double> coming) const;

  std::int64_t age() const { return state_.age; }
  /// The fit; nothing before three ages are known.
  std::optional<GrowthFit> fit() const;

 private:
  double mean_of_cycle() const;

  State state_;
};

}  // namespace grove
