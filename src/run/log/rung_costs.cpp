#include "rung_costs.hpp"

namespace grove {

void RungCosts::add_step(const ForceReport& forces, int first_active) {
  const auto first = static_cast<std::size_t>(first_active);
  for (std::size_t rung = first; rung < particles.size(); ++rung) {
    if (particles[rung] > 0) ++steps[rung];
    interactions[rung] += forces.work[rung];
  }
  walked[first] += forces.interactions.cell + forces.interactions.particle;
  busiest[first] += forces.busiest;
}

}  // namespace grove
