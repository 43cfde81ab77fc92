#include "decomposition/services/partition.hpp"

#include <algorithm>
#include <utility>

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

/// Both return how many go left. Particles lie almost as they did after the last decomposition, so this one
/// exchanges those that are on the wrong side and leaves the others alone.
std::size_t divide_by_coordinate(RankParticles& own, const Cut& cut, std::int32_t cell) {
  const auto records = own.records_of(cell);
  const Coordinate* const axis = own.axis_of(cell).data();
  const std::size_t left = Native::count_less(axis, records.size(), cut.coordinate);
  const std::size_t most = std::min(left, records.size() - left);
  std::uint32_t* const from_left = own.scratch.data();
  std::uint32_t* const from_right = from_left + most + Partition::room_behind;
  const std::size_t wrong = Native::find(axis, left, cut.coordinate, false, 0, from_left);
  Native::find(axis + left, records.size() - left, cut.coordinate, true, static_cast<std::uint32_t>(left),
               from_right);
  for (std::size_t i = 0; i < wrong; ++i) std::swap(records[from_left[i]], records[from_right[i]]);
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

const std::size_t Partition::room_behind = Native::padding + 1;

void Partition::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Cut& cut = input[i].cut;
    answer[i].first_right = first_right(own, cut, input[i].cell);
    const bool is_tied = cut.id > 0;
    const std::size_t left =
        is_tied ? divide_by_id(own, cut, input[i].cell) : divide_by_coordinate(own, cut, input[i].cell);
    own.divide(input[i].cell, input[i].child, static_cast<Count>(left));
  }
}

void Partition::combine(Output& answer, const Output& other) {
  answer.first_right = std::min(answer.first_right, other.first_right);
}

}  // namespace grove::services
