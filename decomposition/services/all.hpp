#pragma once

#include <array>

#include "decomposition/service.hpp"
#include "decomposition/services/bounds.hpp"
#include "decomposition/services/count.hpp"
#include "decomposition/services/count_left.hpp"
#include "decomposition/services/gather_cells.hpp"
#include "decomposition/services/gather_keys.hpp"
#include "decomposition/services/greatest_id.hpp"
#include "decomposition/services/init.hpp"
#include "decomposition/services/make_axis.hpp"
#include "decomposition/services/partition.hpp"
#include "decomposition/services/select_tie.hpp"

namespace grove::services {

/// What the master of a decomposition can call.
inline constexpr std::array all = {service_entry<Init>(),           service_entry<Bounds>(),
                                   service_entry<CountParticles>(), service_entry<MakeAxis>(),
                                   service_entry<CountLeft>(),      service_entry<GatherKeys>(),
                                   service_entry<GreatestId>(),     service_entry<SelectTie>(),
                                   service_entry<Partition>(),      service_entry<GatherCells>()};

}  // namespace grove::services
