#include "decomposition/services/count.hpp"

namespace grove::services {

void CountParticles::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto records = own.records_of(input[i].cell);
    answer[i].count = static_cast<Count>(records.size());
    answer[i].weight = answer[i].count;
    if (!own.weight) continue;
    answer[i].weight = 0;
    for (const Record& r : records) answer[i].weight += own.weight[r.index];
  }
}

}  // namespace grove::services
