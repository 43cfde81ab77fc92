#include "decomposition/services/count_left.hpp"

#include <bit>
#include <numeric>
#include <vector>

#include "base/activity.hpp"
#include "decomposition/services/visit_keys.hpp"

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
    if (cuts.weigh && own.weight) {
      weight = 0;
      for (std::size_t i = 0; i < axis.size(); ++i)
        if (axis[i] - first < width) weight += own.weight[records[i].index];
    }
    answer[k] = {count, weight};
  }
}

void weigh_digits(RankParticles& own, const CountLeft::Input& cuts, std::span<Tally> answer) {
  const auto axis = own.axis_of(cuts.cell);
  const auto records = own.records_of(cuts.cell);
  const int shift = std::countr_zero(cuts.step);
  for (std::size_t i = 0; i < axis.size(); ++i)
    if (const Coordinate digit = (axis[i] - cuts.first) >> shift; digit < answer.size())
      answer[digit] += {1, own.weight_of(records[i])};
}

void count_digits(RankParticles& own, const CountLeft::Input& cuts, std::span<Tally> answer) {
  const int shift = std::countr_zero(cuts.step);
  const Coordinate last = cuts.first + (cuts.step * static_cast<Coordinate>(cuts.candidates) - 1);
  std::vector<std::uint32_t> counts(answer.size());
  visit_keys(own.axis_of(cuts.cell), cuts.first, last,
             [&](Coordinate key) { ++counts[(key - cuts.first) >> shift]; });
  for (std::size_t b = 0; b < answer.size(); ++b) answer[b] = {counts[b], counts[b]};
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
    const bool one_by_one = cuts.candidates <= CandidateCuts::few;
    activity().host_bytes +=
        sizeof(Coordinate) * own.axis_of(cuts.cell).size() * (one_by_one ? mine.size() : 1);
    if (one_by_one)
      compare(own, cuts, mine);
    else {
      if (cuts.weigh && own.weight)
        weigh_digits(own, cuts, mine);
      else
        count_digits(own, cuts, mine);
      std::partial_sum(mine.begin(), mine.end(), mine.begin());
    }
  }
}

}  // namespace grove::services
