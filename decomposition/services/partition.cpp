#include "decomposition/services/partition.hpp"

#include <algorithm>
#include <utility>

#include "base/activity.hpp"
#include "kernels/host/bisection_native.hpp"

namespace grove::services {
namespace {

using bisection::Native;

struct CutCount {
  ParticleId first_right = ~ParticleId{0};  ///< the least id that goes right with the coordinate of the cut
  std::size_t less = 0;                     ///< records with lesser coordinates
};

CutCount count_at(RankParticles& own, const Cut& cut, std::int32_t cell) {
  const auto records = own.records_of(cell);
  const Coordinate* const axis = own.axis_of(cell).data();
  CutCount result;
  // In blocks that stay in cache between the two readings.
  constexpr std::size_t block = 4096;
  for (std::size_t begin = 0; begin < records.size(); begin += block) {
    const std::size_t size = std::min(block, records.size() - begin);
    result.less += Native::count_less(axis + begin, size, cut.coordinate);
    Native::for_each_equal(axis + begin, size, cut.coordinate, [&](std::size_t i) {
      const ParticleId id = own.id_of(records[begin + i]);
      if (!cut.is_left(cut.coordinate, id)) result.first_right = std::min(result.first_right, id);
    });
  }
  return result;
}

/// Both return how many go left; left: how many have lesser coordinates. Particles lie almost as they did
/// after the last decomposition, so this one exchanges those that are on the wrong side and leaves the others
/// alone.
std::size_t divide_by_coordinate(RankParticles& own, const Cut& cut, std::int32_t cell, std::size_t left) {
  const auto records = own.records_of(cell);
  const Coordinate* const axis = own.axis_of(cell).data();
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

CellBounds bounds_of(std::span<const Record> records) {
  if (records.empty()) return CellBounds::of_nothing();
  activity().host_bytes += records.size_bytes();
  const bisection::Bounds bounds = Native::bounds(records.data(), records.size());
  return {bounds.low_corner(), bounds.high_corner()};
}

}  // namespace

const std::size_t Partition::room_behind = Native::padding + 1;

void Partition::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Cut& cut = input[i].cut;
    // The axis twice; of the records, what is on the wrong side, at most all.
    const std::size_t records = own.records_of(input[i].cell).size();
    activity().host_bytes += (2 * sizeof(Coordinate) + 2 * sizeof(Record)) * records;
    const CutCount counted = count_at(own, cut, input[i].cell);
    const bool is_tied = cut.id > 0;
    const std::size_t left = is_tied ? divide_by_id(own, cut, input[i].cell)
                                     : divide_by_coordinate(own, cut, input[i].cell, counted.less);
    const std::int32_t child = input[i].child;
    own.divide(input[i].cell, child, static_cast<Count>(left));
    answer[i] = {counted.first_right,
                 {static_cast<Count>(left), own.cell_weight[static_cast<std::size_t>(child)]},
                 bounds_of(own.records_of(child)),
                 bounds_of(own.records_of(child + 1))};
  }
}

void Partition::combine(Output& answer, const Output& other) {
  answer.first_right = std::min(answer.first_right, other.first_right);
  answer.left += other.left;
  answer.left_bounds |= other.left_bounds;
  answer.right_bounds |= other.right_bounds;
}

}  // namespace grove::services
