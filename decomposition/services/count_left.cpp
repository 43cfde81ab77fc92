#include "decomposition/services/count_left.hpp"

#include <bit>
#include <numeric>
#include <vector>

namespace grove::services {
namespace {

/// Coordinates left of `first` wrap around to large offsets, so one comparison tests both ends.
void compare(RankParticles& own, const CountLeft::Input& cuts, std::span<Tally> answer) {
  const auto axis = own.axis_of(cuts.cell);
  const auto records = own.records_of(cuts.cell);
  for (std::size_t k = 0; k < answer.size(); ++k) {
    const Coordinate first = cuts.first, width = cuts.step * static_cast<Coordinate>(k + 1);
    std::uint32_t count = 0;
    for (const Coordinate c : axis) count += c - first < width ? 1u : 0u;
    Count weight = count;
    if (own.weight) {
      weight = 0;
      for (std::size_t i = 0; i < axis.size(); ++i)
        if (axis[i] - first < width) weight += own.weight[records[i].index];
    }
    answer[k] = {count, weight};
  }
}

void count_digits(RankParticles& own, const CountLeft::Input& cuts, std::span<Tally> answer) {
  const auto axis = own.axis_of(cuts.cell);
  const auto records = own.records_of(cuts.cell);
  const int shift = std::countr_zero(cuts.step);
  const Coordinate first = cuts.first, bins = static_cast<Coordinate>(cuts.candidates);
  if (own.weight) {
    for (std::size_t i = 0; i < axis.size(); ++i)
      if (const Coordinate digit = (axis[i] - first) >> shift; digit < bins)
        answer[digit] += {1, own.weight[records[i].index]};
  } else {
    std::vector<std::uint32_t> counts(bins);
    for (const Coordinate c : axis)
      if (const Coordinate digit = (c - first) >> shift; digit < bins) ++counts[digit];
    for (Coordinate b = 0; b < bins; ++b) answer[b] = {counts[b], counts[b]};
  }
  std::partial_sum(answer.begin(), answer.end(), answer.begin());
}

}  // namespace

std::size_t CountLeft::answer_size(std::span<const Input> input) {
  std::size_t size = 0;
  for (const Input& cuts : input) size += static_cast<std::size_t>(cuts.candidates);
  return size;
}

void CountLeft::run(RankParticles& own, std::span<const Input> input, std::span<Output> answer) {
  for (const Input& cuts : input) {
    const auto mine = answer.first(static_cast<std::size_t>(cuts.candidates));
    answer = answer.subspan(mine.size());
    if (cuts.candidates <= few)
      compare(own, cuts, mine);
    else
      count_digits(own, cuts, mine);
  }
}

}  // namespace grove::services
