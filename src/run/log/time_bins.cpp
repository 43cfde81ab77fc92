#include "time_bins.hpp"

namespace grove {

void TimeBins::add_step(const ForceReport& forces, int first_active) {
  const auto first = static_cast<std::size_t>(first_active);
  for (std::size_t level = first; level < particles.size(); ++level) {
    if (particles[level] > 0) ++steps[level];
    interactions[level] += forces.work[level];
  }
  walked[first] += forces.interactions.cell + forces.interactions.particle;
  busiest[first] += forces.busiest;
}

}  // namespace grove
