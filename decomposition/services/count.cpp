#include "decomposition/services/count.hpp"

namespace grove::services {

void CountParticles::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    answer[i] = {static_cast<Count>(own.records_of(input[i].cell).size()),
                 own.cell_weight[static_cast<std::size_t>(input[i].cell)]};
  }
}

}  // namespace grove::services
