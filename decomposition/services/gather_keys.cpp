#include "decomposition/services/gather_keys.hpp"

#include "base/activity.hpp"
#include "decomposition/services/visit_keys.hpp"

namespace grove::services {

void GatherKeys::run(RankParticles& own, std::span<const Input> input, std::vector<Output>& answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto [cell, first, last, weigh] = input[i];
    const auto axis = own.axis_of(cell);
    activity().host_bytes += axis.size_bytes();
    const auto question = static_cast<std::int32_t>(i);
    if (weigh && own.weight) {
      const auto records = own.records_of(cell);
      for (std::size_t k = 0; k < axis.size(); ++k)
        if (axis[k] >= first && axis[k] <= last)
          answer.push_back({{1, own.weight_of(records[k])}, axis[k], question});
    } else {
      visit_keys(axis, first, last, [&](Coordinate key) { answer.push_back({{1, 1}, key, question}); });
    }
  }
}

}  // namespace grove::services
