#include "tuning/tree_update.hpp"

#include <algorithm>

namespace grove {
namespace {

// Relative cost at an age by the fit. It never falls: a falling fit is scatter, and would be extrapolated.
double growth(const RebuildInterval& interval, std::int64_t age) {
  const std::optional<GrowthFit> fit = interval.fit();
  return fit ? std::max(1.0, fit->cost(static_cast<double>(age)) / fit->cost(0)) : 1.0;
}

}  // namespace

TreeUpdate TreeUpdateChoice::choose(const TreeUpdateCosts& costs, std::span<const StepWork> coming) const {
  const bool rebuild = trees_.pays(costs.rebuild, coming);
  // When the trees are to be built anyway, new cuts cost only what they cost beyond that.
  if (cuts_.pays(rebuild ? costs.redecompose - costs.rebuild : costs.redecompose, coming))
    return TreeUpdate::redecompose;
  return rebuild ? TreeUpdate::rebuild : TreeUpdate::refit;
}

void TreeUpdateChoice::updated(TreeUpdate update) {
  if (update != TreeUpdate::refit) trees_.built();
  if (update == TreeUpdate::redecompose) cuts_.built();
}

void TreeUpdateChoice::step(double cost, const StepWork& work) {
  // The trees' factor takes in what the cuts aged since the last rebuild. Were it divided out too, new cuts
  // each time would leave nothing to the trees, and a rebuild would never be tried again.
  const double of_cuts = growth(cuts_, cuts_.age() - trees_.age());
  const double of_trees = growth(trees_, trees_.age());
  trees_.step(cost, {work.fresh_cost * of_cuts, work.rung});
  cuts_.step(cost, {work.fresh_cost * of_trees, work.rung});
}

}  // namespace grove
