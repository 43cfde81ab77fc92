#include "decomposition/services/init.hpp"

#include "decomposition/services/partition.hpp"

namespace grove::services {

void Init::run(RankParticles& own, std::span<const Input>, std::span<Output>) {
  own.scratch.resize(own.records.size() + 2 * Partition::room_behind);
  own.axis.resize(own.records.size());
}

}  // namespace grove::services
