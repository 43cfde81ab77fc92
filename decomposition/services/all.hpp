#pragma once

#include <vector>

#include "decomposition/services/count_left.hpp"
#include "decomposition/services/gather_keys.hpp"
#include "decomposition/services/greatest_id.hpp"
#include "decomposition/services/init.hpp"
#include "decomposition/services/make_axis.hpp"
#include "decomposition/services/partition.hpp"
#include "decomposition/services/select_tie.hpp"
#include "decomposition/services/service.hpp"

namespace grove::services {

/// The services that the master of a decomposition can call, on a rank's own data: RankParticles, DeviceRank
/// or AxisCounter.
template <class Own>
std::vector<ServiceEntry> all(Own& own) {
  return {service_entry<Init>(own),       service_entry<MakeAxis>(own),   service_entry<CountLeft>(own),
          service_entry<GatherKeys>(own), service_entry<GreatestId>(own), service_entry<SelectTie>(own),
          service_entry<Partition>(own)};
}

}  // namespace grove::services
