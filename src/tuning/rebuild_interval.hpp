#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "kernels/math/coming_steps.hpp"
#include "tuning/growth_fit.hpp"

namespace grove {

/// A step of a hierarchy of block time steps.
struct StepWork {
  /// The cost of its walks directly after a build: positive, counted work in a unit of the caller's
  /// (interactions, say).
  double fresh_cost;
  /// The lowest rung whose steps end with it; 0: the longest steps, so all particles are active, and a cycle
  /// ends.
  int rung;
};

/// When to build something anew whose ageing makes steps dearer, such as trees and their cuts: so that the
/// mean cost per step, (build + the costs of the steps until the next build) / steps, is least.
///
/// A build may lead: then it is at its best so many steps later, and costs as much more so many steps
/// before as behind. Distances count from there, either way; builds to come are taken to lead to the
/// middle of their life.
///
/// The relative cost of a step, cost / fresh cost, is fitted over the distance by best_growth_fit; steps
/// weigh as much as they cost, so that those of few particles, which scatter, hardly count. Steps of the last
/// intervals stay in the fit with a weight that falls by a sixteenth at each build: a new interval is thus
/// judged from its begin, and short ones are fitted well. The particles of short steps move faster, so what
/// is walked for them ages faster: each rung has a factor on the growth.
///
/// With block time steps the best moment is just before a dear step, not after a fixed number of steps:
/// pays() looks at what the coming steps cost. Builds at a fixed age cost up to 20 % more.
///
/// All input is counted work, the same on every rank; so is then every answer. Source of the fits and of the
/// mean cost: Miki & Umemura 2017, New Astronomy 52, 65.
class RebuildInterval {
 public:
  /// A build at the latest after so many steps: what an even longer interval could save is below 1/1024 of
  /// the build per step.
  static constexpr std::int64_t longest = 1024;
  /// Coming steps that are looked at; later ones are taken to cost the mean.
  static constexpr std::size_t horizon = ComingSteps::known;
  /// Distances from the best moment that are told apart: 0 .. 15, then 8 of each octave up to `longest`.
  static constexpr std::size_t distances = 64;

  /// Steps of about one distance, older intervals with their lower weight; each a sum over steps.
  struct DistanceClass {
    double fresh_cost, fresh_cost_times_distance, cost;
    bool operator==(const DistanceClass&) const = default;
  };

  /// Rungs that are told apart; deeper ones count as the last.
  static constexpr std::size_t rungs = 64;

  /// Growth of the steps of a rung, in the unit of the costs, summed like an DistanceClass.
  struct RungGrowth {
    double seen, expected;  ///< expected: by the fit of its time
    bool operator==(const RungGrowth&) const = default;
  };

  /// All there is to save: restored from it, the answers are the same to the bit. Trivially copyable.
  struct State {
    std::array<DistanceClass, distances> classes;
    std::array<RungGrowth, rungs> growths;
    double cycle_cost, mean_cost;  ///< fresh cost times factor: of this cycle; per step of the last whole one
    std::int64_t cycle_steps;      ///< of this cycle so far
    std::int64_t age, builds;      ///< steps since the last build; builds so far
    std::int64_t lead;             ///< of that one, in steps
    bool operator==(const State&) const = default;
  };

  RebuildInterval() : state_{} {}
  explicit RebuildInterval(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  /// Before the next step all is built anew. lead: steps until it is at its best.
  void built(std::int64_t lead = 0);

  /// The growth seems not to be what was seen any more: that counts a quarter.
  void doubt();

  /// A step was done. cost: what its walks cost, in the unit of the fresh cost. Cost of the call: that of
  /// fit().
  void step(double cost, const StepWork& work);

  /// True if it pays to build before the next step. build_cost: of one build, in the unit of the steps'
  /// costs. coming: the next steps, as many as are known, next one first; those beyond `horizon` are not
  /// read. Never directly after a build; always at age `longest`; not before three distances are known. Cost:
  /// one fit and some 600 additions, microseconds.
  bool pays(double build_cost, std::span<const StepWork> coming) const;

  /// How far a build before the next step, with these arguments of pays(), should lead, in steps: to the
  /// middle of its expected life, or of `most` steps if it is to end earlier. 0 before three distances are
  /// known. Cost: as of pays().
  std::int64_t lead(double build_cost, std::span<const StepWork> coming, std::int64_t most = longest) const;

  std::int64_t age() const { return state_.age; }
  /// Steps from now to the best moment of what is built, or since then.
  std::int64_t distance() const { return std::abs(state_.age - state_.lead); }
  /// The fit; nothing before three distances are known. It is kept until the state changes: three calls a
  /// step ask for it.
  std::optional<GrowthFit> fit() const;

 private:
  void fade(double weight);
  std::array<double, rungs> factors() const;
  double mean_of_cycle() const;
  double mean_cost() const;
  std::vector<double> costs_of(std::span<const StepWork> coming) const;

  State state_;
  mutable std::optional<std::optional<GrowthFit>> fit_;  ///< of this state, once it was asked for
};

}  // namespace grove
