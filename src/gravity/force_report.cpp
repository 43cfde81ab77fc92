#include "gravity/force_report.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace grove {

bool ForceReport::add_over_ranks(const Communicator& comm, JointReduction joint, bool is_complete) {
  std::array<Count, 9> counts = {interactions.cell,  interactions.particle,
                                 interactions.tests, interactions.expanded,
                                 let.trees,          let.nodes,
                                 let.particles,      let_bytes,
                                 not_finite};
  own.interactions = interactions.cell + interactions.particle;
  busiest = own.interactions;
  joint.max(busiest)
      .sum(std::span<Count>(counts))
      .sum(std::span<Count>(active_of))
      .sum(std::span<Count>(work));
  if (!joint.apply_if(comm, is_complete)) return false;
  interactions = {counts[0], counts[1], counts[2], counts[3]};
  let = {counts[4], counts[5], counts[6]};
  let_bytes = counts[7];
  not_finite = counts[8];
  active = std::accumulate(active_of.begin(), active_of.end(), Count{0});
  let_fraction =
      static_cast<double>(counts[5] + counts[6]) / static_cast<double>(std::max<Count>(1, particles));
  return true;
}

}  // namespace grove
