#pragma once

#include <array>
#include <cstdint>

namespace grove {

/// The critical separation beyond which groups in sparse regions are split, tuned while the run goes on: one
/// interval between rebuilds with one value gives one cost, and Brent's method (Boost) says which value to
/// try next. It is called from its begin each time and answered from the costs known so far, until it asks
/// for an unknown one: that is the next trial. Then the best value stays, and the search starts anew once the
/// cost differs from what it was by `drift`.
///
/// The search is in log(separation), in which costs are smooth over the orders of magnitude of the bracket.
/// Source: Miki & Umemura 2017, New Astronomy 52, 65; Brent 1973, Algorithms for Minimization without
/// Derivatives, chapter 5.
class CriticalSeparation {
 public:
  /// Of Brent's method, in 1 + log(separation / lower) / log(upper / lower), which runs from 1 to 2: values 2
  /// to 4 % of the bracket apart count as equal. In a bracket of a factor 64 these are 8 to 15 %, about which
  /// the cost at its flat minimum differs less than two intervals do.
  static constexpr int bits = 7;
  /// The search ends at the latest after so many trials; a smooth cost takes 4 to 9.
  static constexpr std::int64_t most_trials = 12;
  /// After the search costs are averaged over so many intervals: one of them scatters with the particles that
  /// happened to be active.
  static constexpr std::int64_t averaged = 4;
  /// A change of the averaged cost by this part starts a new search: as much as tuning may lose at all.
  static constexpr double drift = 0.05;

  /// All there is to save: restored from it, the values are the same to the bit. Trivially copyable.
  struct State {
    double lower, upper;                    ///< bracket, length
    double separation;                      ///< of the interval that runs, length
    std::array<double, most_trials> costs;  ///< of the trials, in order
    std::int64_t trials, found;  ///< so many trials are known; whether the search has ended, 0 or 1
    double first_mean, sum;      ///< after the search: first averaged cost, or 0; sum of the next one
    std::int64_t summed;         ///< so many costs are in the sum
    bool operator==(const State&) const = default;
  };

  /// The bracket, 0 < lower < upper: InputError else. Take it so that nothing is split at the upper end
  /// (which is tried first: it is what a run without splitting costs) and all that can be at the other.
  CriticalSeparation(double lower, double upper);
  explicit CriticalSeparation(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  /// For the interval that runs; in the unit of the bracket.
  double separation() const { return state_.separation; }
  /// Whether the search has ended.
  bool found() const { return state_.found != 0; }

  /// The interval has ended. cost: of its walks over what they would have cost by some measure that does not
  /// depend on the separation (the particles' last counted interactions, say), so that intervals in which
  /// other particles were active compare; positive. Cost of the call: microseconds.
  void interval_ended(double cost);

 private:
  void try_next();

  State state_;
};

}  // namespace grove
