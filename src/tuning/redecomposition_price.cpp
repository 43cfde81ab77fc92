#include "tuning/redecomposition_price.hpp"

#include <algorithm>

namespace grove {
namespace {

/// The median of three values is not the one that is far off.
constexpr std::size_t fewest = 3;

}  // namespace

void RedecompositionPrice::add(TreeUpdate update, double particles, double interactions,
                               const StepSeconds& seconds) {
  if (seconds.forces > 0) speed_.add(interactions / seconds.forces, interactions);
  if (update != TreeUpdate::redecompose) return refit_.add(seconds.trees);
  if (refit_.size() < fewest || speed_.size() < fewest || particles == 0) return;
  measured_.add(std::max(0.0, seconds.trees - refit_.median()) * speed_.median() / particles);
  if (measured_.size() >= fewest) rate_ = measured_.median();
}

}  // namespace grove
