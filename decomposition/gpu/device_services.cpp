// The services on particles that are in the memory of a GPU: one call of ResidentCells each.
#include <algorithm>

#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/services/all.hpp"

namespace grove::services {

void Init::run(DeviceRank& own, std::span<const Input>, std::span<Output>) { own.begin_services(); }

void Bounds::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  own.cells().bounds(input, answer);
}

void CountParticles::run(DeviceRank& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) answer[i] = own.cells().tally(input[i].cell);
}

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

void GatherCells::run(DeviceRank& own, std::span<const Input>, std::vector<Output>& answer) {
  const auto cells = own.own_cells();
  answer.assign(cells.begin(), cells.end());
}

}  // namespace grove::services
