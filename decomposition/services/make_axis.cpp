#include "decomposition/services/make_axis.hpp"

#include <algorithm>

#include "base/activity.hpp"
#include "kernels/kokkos/bisection_native.hpp"

namespace grove::services {
namespace {

using bisection::Native;

Count line_up(std::span<const Record> records, int coordinate, Coordinate middle,
              std::span<Coordinate> axis) {
  // Vectors may write beyond the end of their array, where the next cell's coordinates are.
  const std::size_t safe = records.size() - std::min(records.size(), Native::padding);
  // In blocks that stay in cache until they are counted.
  constexpr std::size_t block = 2048;
  std::size_t less = 0;
  for (std::size_t begin = 0; begin < safe; begin += block) {
    const std::size_t size = std::min(block, safe - begin);
    Native::extract(&records[begin], size, coordinate, &axis[begin]);
    less += Native::count_less(&axis[begin], size, middle);
  }
  for (std::size_t i = safe; i < records.size(); ++i) {
    axis[i] = records[i][coordinate];
    less += axis[i] < middle;
  }
  return static_cast<Count>(less);
}

}  // namespace

void MakeAxis::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    activity().host_bytes += (sizeof(Record) + sizeof(Coordinate)) * own.records_of(input[i].cell).size();
    answer[i].left_of_middle =
        line_up(own.records_of(input[i].cell), input[i].axis, input[i].middle, own.axis_of(input[i].cell));
  }
}

}  // namespace grove::services
