#pragma once

#include <span>

#include "tuning/rebuild_interval.hpp"

namespace grove {

/// The work on the trees before a step, from cheap to dear. Each includes the ones before it.
enum class TreeUpdate {
  refit,        ///< nodes are moved and resized
  rebuild,      ///< local trees are built anew inside their leaves
  redecompose,  ///< new cuts of the ORB: new leaves
};

/// The cost of tree updates beyond refitting, in interactions.
struct TreeUpdateRates {
  double rebuild;       ///< per particle that gets new trees
  double rebuild_once;  ///< on top, however few do
  double redecompose;   ///< per particle of the run
  bool in_blocks;       ///< blocks are rebuilt one by one (BlockExcess), not all leaves together

  /// particles: that get new trees.
  double cost(TreeUpdate update, double particles) const {
    if (update == TreeUpdate::refit) return 0;
    return update == TreeUpdate::redecompose ? redecompose * particles : rebuild * particles + rebuild_once;
  }
};

/// Counted work of tree updates beyond refitting, in the unit of the steps' costs.
struct TreeUpdateCosts {
  double rebuild;
  double redecompose;  ///< with the rebuild that is part of it
};

/// Chooses the tree update before each step, so that the mean cost per step is least: two nested
/// RebuildIntervals. The cost of a step is its cost on new cuts times the growth of what a rebuild renews,
/// since the last one, times the growth of what only a redecomposition renews, up to the last rebuild. Each
/// factor is fitted with the other divided out. The two intervals are chosen one by one: within 2 % of the
/// best pair where cuts age at most half as fast as trees, as they should; rebuilds that help little cost 5 %
/// where cuts age four times as fast.
///
/// From counted work alone, so the same on any number of ranks. Cost of each call: some fits, microseconds.
class TreeUpdateChoice {
 public:
  /// All there is to save: restored from it, the answers are the same to the bit. Trivially copyable.
  struct State {
    RebuildInterval::State trees, cuts;
    bool operator==(const State&) const = default;
  };

  TreeUpdateChoice() = default;
  explicit TreeUpdateChoice(const State& state) : trees_(state.trees), cuts_(state.cuts) {}
  State state() const { return {trees_.state(), cuts_.state()}; }

  /// The update before the next step. coming: the next steps (RebuildInterval::pays).
  TreeUpdate choose(const TreeUpdateCosts& costs, std::span<const StepWork> coming) const;

  /// It was done.
  void updated(TreeUpdate update);

  /// A step was done, as RebuildInterval::step; its fresh cost is the one directly after new cuts.
  void step(double cost, const StepWork& work);

 private:
  RebuildInterval trees_, cuts_;  // age of the local trees, of the cuts
};

}  // namespace grove
