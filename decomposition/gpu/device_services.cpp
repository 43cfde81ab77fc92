// The services on particles that are in the memory of a GPU: one call of ResidentCells each.
#include <algorithm>

#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/services/all.hpp"

namespace grove::services {

void Init::run(DeviceRank& own, std::span<const Input>, std::span<Output>) { own.begin_services(); }

void MakeAxis::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  own.cells().make_axis(input, answer);
}

void CountLeft::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  own.cells().count_left(input, answer);
}

void GatherKeys::run(DeviceRank& own, std::span<const Input> input, std::vector<Output>& answer) {
  answer = own.cells().gather_keys(input);
}

void GreatestId::run(DeviceRank& own, std::span<const Input>, std::span<Output> answer) {
  answer[0] = own.cells().greatest_id();
}

void SelectTie::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  own.cells().select_tie(input, answer);
}

void Partition::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  own.cells().partition(input, answer);
}

}  // namespace grove::services
