#include "decomposition/services/make_axis.hpp"

#include <algorithm>

#include "kernels/kokkos/bisection_native.hpp"

namespace grove::services {
namespace {

using bisection::Native;

Count line_up(std::span<const Record> records, int coordinate, Coordinate middle,
              std::span<Coordinate> axis) {
  // Vectors may write beyond the end of their array, where the next cell's coordinates are.
  const std::size_t safe = records.size() - std::min(records.size(), Native::padding);
  Native::extract(records.data(), safe, coordinate, axis.data());
  for (std::size_t i = safe; i < records.size(); ++i) axis[i] = records[i][coordinate];
  return static_cast<Count>(Native::count_less(axis.data(), axis.size(), middle));
}

}  // namespace

void MakeAxis::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i)
    answer[i].left_of_middle =
        line_up(own.records_of(input[i].cell), input[i].axis, input[i].middle, own.axis_of(input[i].cell));
}

}  // namespace grove::services
