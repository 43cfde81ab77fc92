#include "tuning/repair.hpp"

#include <algorithm>

namespace grove {
namespace {

// Relative cost at an age by the fit. It never falls: a falling fit is scatter, and would be extrapolated.
double growth(const RebuildInterval& interval, std::int64_t age) {
  const std::optional<GrowthFit> fit = interval.fit();
  return fit ? std::max(1.0, fit->cost(static_cast<double>(age)) / fit->cost(0)) : 1.0;
}

}  // namespace

Repair RepairChoice::choose(const RepairCosts& costs, std::span<const StepWork> coming) const {
  const bool rebuild = trees_.pays(costs.rebuild, coming);
  // When the trees are to be built anyway, new cuts cost only what they cost beyond that.
  if (cuts_.pays(rebuild ? costs.cuts - costs.rebuild : costs.cuts, coming)) return Repair::cuts;
  return rebuild ? Repair::rebuild : Repair::refit;
}

void RepairChoice::repaired(Repair repair) {
  if (repair != Repair::refit) trees_.built();
  if (repair == Repair::cuts) cuts_.built();
}

void RepairChoice::step(double cost, const StepWork& work) {
  // The trees' factor takes in what the cuts aged since the last rebuild. Were it divided out too, new cuts
  // each time would leave nothing to the trees, and a rebuild would never be tried again.
  const double of_cuts = growth(cuts_, cuts_.age() - trees_.age());
  const double of_trees = growth(trees_, trees_.age());
  trees_.step(cost, {work.fresh_cost * of_cuts, work.level});
  cuts_.step(cost, {work.fresh_cost * of_trees, work.level});
}

}  // namespace grove
