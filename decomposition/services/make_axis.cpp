#include "decomposition/services/make_axis.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/activity.hpp"
#include "decomposition/services/visit_keys.hpp"
#include "kernels/host/bisection_native.hpp"

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

void count_near(std::span<const Coordinate> axis, const MiddleBins& bins, std::span<Count> answer) {
  const auto clamped = [](std::int64_t c) {
    return static_cast<Coordinate>(std::clamp<std::int64_t>(c, 0, std::numeric_limits<Coordinate>::max()));
  };
  activity().host_bytes += axis.size_bytes();
  visit_keys(axis, clamped(bins.begin_of(0)), clamped(bins.begin_of(MiddleBins::number) - 1),
             [&](Coordinate key) { ++answer[static_cast<std::size_t>(bins.bin_of(key))]; });
}

}  // namespace

std::size_t MakeAxis::answer_size(std::span<const Input> input) {
  std::size_t size = 0;
  for (const Input& choice : input) size += choice.answers();
  return size;
}

void MakeAxis::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (const Input& choice : input) {
    const auto records = own.records_of(choice.cell);
    activity().host_bytes += (sizeof(Record) + sizeof(Coordinate)) * records.size();
    const Count left = line_up(records, choice.axis, choice.middle, own.axis_of(choice.cell));
    if (choice.middle > 0) answer[0] = left;
    if (choice.wants_bins())
      count_near(own.axis_of(choice.cell), {choice.middle, choice.bins_shift}, answer.subspan(1));
    answer = answer.subspan(choice.answers());
  }
}

}  // namespace grove::services
