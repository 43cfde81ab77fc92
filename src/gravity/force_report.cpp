#include "gravity/force_report.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace grove {

bool ForceReport::add_over_ranks(const Communicator& comm, JointReduction joint, bool is_complete) {
  std::array<Count, 8> counts = {interactions.cell, interactions.particle, interactions.tests, let.trees,
                                 let.nodes,         let.particles,         let_bytes,          not_finite};
  own.interactions = interactions.cell + interactions.particle;
  busiest = own.interactions;
  joint.max(busiest)
      .sum(std::span<Count>(counts))
      .sum(std::span<Count>(active_of))
      .sum(std::span<Count>(work));
  if (!joint.apply_if(comm, is_complete)) return false;
  interactions = {counts[0], counts[1], counts[2]};
  let = {counts[3], counts[4], counts[5]};
  let_bytes = counts[6];
  not_finite = counts[7];
  active = std::accumulate(active_of.begin(), active_of.end(), Count{0});
  let_fraction =
      static_cast<double>(counts[4] + counts[5]) / static_cast<double>(std::max<Count>(1, particles));
  return true;
}

}  // namespace grove
