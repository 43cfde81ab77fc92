#include "decomposition/services/bounds.hpp"

#include <algorithm>

#include "base/activity.hpp"
#include "kernels/kokkos/bisection_native.hpp"

namespace grove::services {

void Bounds::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto records = own.records_of(input[i].cell);
    answer[i] = CellBounds::of_nothing();
    if (records.empty()) continue;
    activity().host_bytes += records.size_bytes();
    const bisection::Bounds bounds = bisection::Native::bounds(records.data(), records.size());
    answer[i] = {bounds.low_corner(), bounds.high_corner()};
  }
}

void Bounds::combine(Output& answer, const Output& other) {
  for (int axis = 0; axis < 3; ++axis) {
    answer.low[axis] = std::min(answer.low[axis], other.low[axis]);
    answer.high[axis] = std::max(answer.high[axis], other.high[axis]);
  }
}

}  // namespace grove::services
