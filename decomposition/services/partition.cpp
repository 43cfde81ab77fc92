#include "decomposition/services/partition.hpp"

#include <algorithm>

#include "kernels/kokkos/bisection_native.hpp"

namespace grove::services {
namespace {

using bisection::Native;

/// The least id that goes right with the coordinate of the cut.
ParticleId first_right(RankParticles& own, const Cut& cut, std::int32_t cell) {
  const auto records = own.records_of(cell);
  ParticleId least = ~ParticleId{0};
  Native::for_each_equal(own.axis_of(cell).data(), records.size(), cut.coordinate, [&](std::size_t i) {
    const ParticleId id = own.id_of(records[i]);
    if (!cut.is_left(cut.coordinate, id)) least = std::min(least, id);
  });
  return least;
}

/// Both return how many go left.
std::size_t divide_by_coordinate(RankParticles& own, const Cut& cut, std::int32_t cell) {
  const auto records = own.records_of(cell);
  const std::size_t left = Native::count_less(own.axis_of(cell).data(), records.size(), cut.coordinate);
  if (left > 0 && left < records.size())
    Native::partition(records.data(), records.size(), cut.axis, cut.coordinate, own.scratch.data());
  return left;
}

std::size_t divide_by_id(RankParticles& own, const Cut& cut, std::int32_t cell) {
  const auto records = own.records_of(cell);
  const auto middle = std::partition(records.begin(), records.end(), [&](const Record& r) {
    return r[cut.axis] < cut.coordinate || (r[cut.axis] == cut.coordinate && own.id_of(r) < cut.id);
  });
  return static_cast<std::size_t>(middle - records.begin());
}

}  // namespace

void Partition::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto cell = static_cast<std::size_t>(input[i].cell),
               child = static_cast<std::size_t>(input[i].child);
    const Cut& cut = input[i].cut;
    answer[i].first_right = first_right(own, cut, input[i].cell);
    const bool is_tied = cut.id > 0;
    const auto left = static_cast<Count>(is_tied ? divide_by_id(own, cut, input[i].cell)
                                                 : divide_by_coordinate(own, cut, input[i].cell));
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
