#include "decomposition/services/partition.hpp"

#include <algorithm>

namespace grove::services {
namespace {

/// Returns how many go left.
std::size_t divide(RankParticles& own, const Cut& cut, std::int32_t cell, ParticleId& first_right) {
  const auto records = own.records_of(cell);
  const auto axis = own.axis_of(cell);
  std::size_t left = 0, right = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    bool goes_left = axis[i] < cut.coordinate;
    if (axis[i] == cut.coordinate) [[unlikely]] {
      const ParticleId id = own.id_of(records[i]);
      goes_left = cut.is_left(axis[i], id);
      if (!goes_left) first_right = std::min(first_right, id);
    }
    // Written to both sides, kept on one: no branch that depends on the particle.
    const Record record = records[i];
    records[left] = record;
    own.scratch[right] = record;
    left += goes_left ? 1 : 0;
    right += goes_left ? 0 : 1;
  }
  std::copy_n(own.scratch.begin(), right, records.begin() + static_cast<std::ptrdiff_t>(left));
  return left;
}

}  // namespace

void Partition::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto cell = static_cast<std::size_t>(input[i].cell),
               child = static_cast<std::size_t>(input[i].child);
    answer[i].first_right = ~ParticleId{0};
    const auto left = static_cast<Count>(divide(own, input[i].cut, input[i].cell, answer[i].first_right));
    own.begin.resize(std::max(own.begin.size(), child + 2));
    own.end.resize(own.begin.size());
    own.begin[child] = own.begin[cell];
    own.end[child] = own.begin[child + 1] = own.begin[cell] + left;
    own.end[child + 1] = own.end[cell];
  }
}

void Partition::combine(Output& answer, const Output& other) {
  answer.first_right = std::min(answer.first_right, other.first_right);
}

}  // namespace grove::services
