#include "decomposition/services/bounds.hpp"

#include <algorithm>

namespace grove::services {

void Bounds::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    IntegerPosition low{~0u, ~0u, ~0u}, high{0, 0, 0};
    for (const Record& r : own.records_of(input[i].cell)) {
      low = {std::min(low.x, r.x), std::min(low.y, r.y), std::min(low.z, r.z)};
      high = {std::max(high.x, r.x), std::max(high.y, r.y), std::max(high.z, r.z)};
    }
    answer[i] = {low, high};
  }
}

void Bounds::combine(Output& answer, const Output& other) {
  for (int axis = 0; axis < 3; ++axis) {
    answer.low[axis] = std::min(answer.low[axis], other.low[axis]);
    answer.high[axis] = std::max(answer.high[axis], other.high[axis]);
  }
}

}  // namespace grove::services
