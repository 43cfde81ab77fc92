#include "decomposition/services/init.hpp"

#include <algorithm>

#include "decomposition/services/partition.hpp"

namespace grove::services {

void Init::run(RankParticles& own, std::span<const Input>, std::span<Output> answer) {
  own.scratch.resize(own.records.size() + 2 * Partition::room_behind);
  own.axis.resize(own.records.size());
  for (const ParticleId id : own.particles.id) answer[0].greatest_id = std::max(answer[0].greatest_id, id);
}

void Init::combine(Output& answer, const Output& other) {
  answer.greatest_id = std::max(answer.greatest_id, other.greatest_id);
}

}  // namespace grove::services
