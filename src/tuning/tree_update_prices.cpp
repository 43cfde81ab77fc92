#include "tuning/tree_update_prices.hpp"

#include <algorithm>

namespace grove {
namespace {

/// So many that one of them, however far off, is not their median.
constexpr std::size_t fewest = 3;

double factor_of(const RunningMedian& measured, double otherwise) {
  return measured.size() < fewest ? otherwise : measured.median();
}

}  // namespace

void TreeUpdatePrices::add(TreeUpdate update, double particles, double interactions,
                           const StepSeconds& seconds) {
  if (seconds.forces > 0) speed_.add(interactions / seconds.forces, interactions);
  if (update == TreeUpdate::refit) return refit_.add(seconds.trees);
  const double assumed = assumed_.cost(update, particles);
  if (refit_.size() < fewest || speed_.size() < fewest || assumed == 0) return;
  const double cost = std::max(0.0, seconds.trees - refit_.median()) * speed_.median();
  (update == TreeUpdate::redecompose ? cuts_ : rebuild_).add(cost / assumed);

  // An update that was not measured yet is likely to be as much dearer as the other one.
  const double of_rebuild = factor_of(rebuild_, factor_of(cuts_, 1));
  rates_.rebuild = assumed_.rebuild * of_rebuild;
  rates_.rebuild_once = assumed_.rebuild_once * of_rebuild;
  rates_.redecompose = assumed_.redecompose * factor_of(cuts_, of_rebuild);
  // Cuts take all that a rebuild of all leaves takes.
  if (!rates_.in_blocks) rates_.redecompose = std::max(rates_.redecompose, rates_.rebuild);
}

}  // namespace grove
