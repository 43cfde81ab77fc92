#include "decomposition/services/select_tie.hpp"

#include <numeric>

namespace grove::services {

std::size_t SelectTie::answer_size(std::span<const Input> input) {
  std::size_t size = 0;
  for (const Input& cuts : input) size += static_cast<std::size_t>(cuts.candidates);
  return size;
}

void SelectTie::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (const Input& cuts : input) {
    const auto mine = answer.first(static_cast<std::size_t>(cuts.candidates));
    answer = answer.subspan(mine.size());
    const auto axis = own.axis_of(cuts.cell);
    const auto records = own.records_of(cuts.cell);
    for (std::size_t i = 0; i < axis.size(); ++i) {
      if (axis[i] != cuts.coordinate) continue;
      const ParticleId id = own.id_of(records[i]);
      if (id < cuts.first) continue;
      if (const ParticleId part = (id - cuts.first) / cuts.step; part < mine.size())
        mine[part] += {1, own.weight_of(records[i])};
    }
    std::partial_sum(mine.begin(), mine.end(), mine.begin());
  }
}

}  // namespace grove::services
