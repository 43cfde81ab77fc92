#include "decomposition/services/make_axis.hpp"

namespace grove::services {
namespace {

Count line_up(std::span<const Record> records, Coordinate Record::*coordinate, Coordinate middle,
              std::span<Coordinate> axis) {
  Count left = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    axis[i] = records[i].*coordinate;
    left += axis[i] < middle ? 1 : 0;
  }
  return left;
}

}  // namespace

void MakeAxis::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  constexpr Coordinate Record::*coordinates[3] = {&Record::x, &Record::y, &Record::z};
  for (std::size_t i = 0; i < input.size(); ++i)
    answer[i].left_of_middle = line_up(own.records_of(input[i].cell), coordinates[input[i].axis],
                                       input[i].middle, own.axis_of(input[i].cell));
}

}  // namespace grove::services
