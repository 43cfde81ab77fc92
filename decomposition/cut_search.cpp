#include "decomposition/cut_search.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "decomposition/services/count_left.hpp"
#include "decomposition/services/gather_keys.hpp"
#include "decomposition/services/greatest_id.hpp"
#include "decomposition/services/select_tie.hpp"

namespace grove {
namespace {

/// So many that the answers of a call, a tally per candidate, stay below 256 MiB, if a digit has more than
/// one.
int most_digit_bits(std::size_t cells) {
  constexpr int total = 24;
  return std::max(total - static_cast<int>(std::bit_width(cells)), 1);
}

/// Keys that may be the first to go right, and what is known of them.
struct Interval {
  CutQuestion* question;
  std::uint64_t first, last;  ///< both inclusive
  Tally below;                ///< left of the interval; acceptable
  Tally inside;               ///< in the interval; together with `below` not acceptable
};

/// The search begins here among the bins around the middle: in the first that not all of may go left, or
/// beside all of them. The target is a number.
Interval begin_in_bins(CutQuestion& q) {
  const auto tally = [](Count count) { return Tally{count, count}; };
  Count below = q.left_of_middle;
  for (std::int32_t bin = 0; bin < MiddleBins::on_a_side; ++bin)
    below -= q.in_bins[static_cast<std::size_t>(bin)];
  const auto interval = [&](std::int64_t first, std::int64_t end, Count before, Count inside) {
    const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(first, q.low));
    const auto last = static_cast<std::uint64_t>(std::min<std::int64_t>(end - 1, q.high));
    return Interval{&q, least, last, tally(before), tally(inside)};
  };
  if (!q.target.accepts(below, below)) return interval(q.low, q.bins.begin_of(0), 0, below);
  for (std::int32_t bin = 0; bin < MiddleBins::number; ++bin) {
    const Count inside = q.in_bins[static_cast<std::size_t>(bin)];
    if (!q.target.accepts(below + inside, below + inside))
      return interval(q.bins.begin_of(bin), q.bins.begin_of(bin + 1), below, inside);
    below += inside;
  }
  return interval(q.bins.begin_of(MiddleBins::number), std::int64_t{q.high} + 1, below, q.all.count - below);
}

/// The begin of the search. The half of the cut is known where the target is a number; weights are then
/// not asked for, and the tallies hold numbers in their place.
Interval begin(CutQuestion& q) {
  if (!q.in_bins.empty()) return begin_in_bins(q);
  const Tally left{q.left_of_middle, q.left_of_middle};
  if (!q.target.is_exact()) return {&q, q.low, q.high, {0, 0}, q.all};
  if (q.target.accepts(left.count, left.weight)) return {&q, q.middle, q.high, left, q.all - left};
  return {&q, q.low, q.middle - 1, {0, 0}, left};
}

/// The places where an interval is divided: at first + step, first + 2 step, ...
struct Candidates {
  std::uint64_t step;
  std::int32_t number;
};

Candidates equidistant(const Interval& interval, std::int32_t number) {
  const std::uint64_t extent = interval.last - interval.first;
  const std::uint64_t step = extent / (static_cast<std::uint64_t>(number) + 1) + 1;
  return {step, static_cast<std::int32_t>(extent / step)};
}

/// At the digit of this many bits that is the most significant of those in which keys can differ.
Candidates at_digit(const Interval& interval, int digit_bits) {
  const std::uint64_t extent = interval.last - interval.first;
  const std::uint64_t step = std::uint64_t{1}
                             << std::max(0, static_cast<int>(std::bit_width(extent)) - digit_bits);
  return {step, static_cast<std::int32_t>(extent / step)};
}

Candidates candidates_of(const Interval& interval, const SearchOptions& options, std::size_t cells) {
  if (options.method == CutMethod::histogram) return at_digit(interval, digit_bits(cells));
  return equidistant(interval, std::min(options.candidates, (std::int32_t{1} << most_digit_bits(cells)) - 1));
}

/// Goes on with the part whose end is the first that is not acceptable. left: of each candidate, counted from
/// the interval's begin.
void narrow(Interval& interval, const Candidates& candidates, std::span<const Tally> left) {
  const CutTarget& target = interval.question->target;
  const auto refused = std::find_if(left.begin(), left.end(), [&](const Tally& tally) {
    const Tally prefix = interval.below + tally;
    return !target.accepts(prefix.count, prefix.weight);
  });
  const auto part = static_cast<std::uint64_t>(refused - left.begin());
  const Tally end = refused == left.end() ? interval.inside : *refused;
  const Tally begin = part == 0 ? Tally{0, 0} : left[part - 1];
  interval.first += part * candidates.step;
  interval.last = std::min(interval.last, interval.first + (candidates.step - 1));
  interval.below += begin;
  interval.inside = end - begin;
}

/// Narrows all intervals to one key each, or until no more than `few` particles are inside.
/// ask(interval, candidates) makes the input of the service S.
template <Service S, class Ask>
void search(ProcessorSetTree& tree, const SearchOptions& options, Count few, std::vector<Interval>& intervals,
            Ask&& ask, DecompositionReport& report) {
  while (true) {
    std::vector<typename S::Input> input;
    std::vector<std::pair<Interval*, Candidates>> asked;
    for (Interval& interval : intervals) {
      if (interval.first == interval.last || interval.inside.count <= few) continue;
      const Candidates candidates = candidates_of(interval, options, intervals.size());
      asked.emplace_back(&interval, candidates);
      input.push_back(ask(interval, candidates));
    }
    if (asked.empty()) return;
    const std::vector<Tally> answer = tree.call<S>(input);
    ++report.rounds;
    std::span<const Tally> rest(answer);
    for (const auto& [interval, candidates] : asked) {
      const auto number = static_cast<std::size_t>(candidates.number);
      narrow(*interval, candidates, rest.first(number));
      rest = rest.subspan(number);
    }
  }
}

CandidateCuts ask_coordinates(const Interval& interval, const Candidates& candidates) {
  return {interval.question->cell, static_cast<Coordinate>(interval.first),
          static_cast<Coordinate>(candidates.step), candidates.number, !interval.question->target.is_exact()};
}

TiedCuts ask_ids(const Interval& interval, const Candidates& candidates) {
  const CutQuestion& question = *interval.question;
  return {interval.first, candidates.step, question.cell, question.cut.coordinate, candidates.number, 0};
}

/// So few particles that their coordinates may be gathered; all answers of a call stay below 32 MiB.
Count few_enough_to_gather(CutMethod method, std::size_t cells) {
  if (method == CutMethod::bisection) return 0;
  constexpr Count most = 1024, total = Count{1} << 20;
  return std::min(most, total / static_cast<Count>(cells));
}

/// Ends the search: looks at the keys that are left inside the intervals.
void search_gathered(ProcessorSetTree& tree, std::vector<Interval>& intervals, DecompositionReport& report) {
  using services::GatherKeys;
  std::vector<KeyInterval> input;
  std::vector<Interval*> asked;
  for (Interval& interval : intervals) {
    if (interval.first == interval.last) continue;
    input.push_back({interval.question->cell, static_cast<Coordinate>(interval.first),
                     static_cast<Coordinate>(interval.last), !interval.question->target.is_exact()});
    asked.push_back(&interval);
  }
  if (asked.empty()) return;
  std::vector<GatheredKey> keys = tree.call<GatherKeys>(input);
  ++report.rounds;
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return std::tie(a.input, a.key) < std::tie(b.input, b.key); });
  auto key = keys.begin();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Interval& interval = *asked[i];
    const auto end =
        std::find_if(key, keys.end(), [&](const auto& k) { return k.input > static_cast<std::int32_t>(i); });
    while (key != end) {
      Tally same{0, 0};
      const auto first = key;
      while (key != end && key->key == first->key) same += (key++)->weight;
      interval.first = interval.last = first->key;
      interval.inside = same;
      const Tally prefix = interval.below + same;
      if (!interval.question->target.accepts(prefix.count, prefix.weight)) break;
      interval.below = prefix;
    }
    key = end;
  }
}

/// True if some of the particles with the coordinate found may go left. Particles weigh at least 1.
bool is_tied(const Interval& interval) {
  return interval.inside.count > 1 &&
         interval.question->target.accepts(interval.below.count + 1, interval.below.weight + 1);
}

}  // namespace

int digit_bits(std::size_t cells) {
  constexpr int most = 11, least = 8, total = 17;
  const int bits = std::clamp(total - static_cast<int>(std::bit_width(cells)), least, most);
  return std::min(bits, most_digit_bits(cells));
}

void find_cuts(ProcessorSetTree& tree, const SearchOptions& options, std::span<CutQuestion> questions,
               std::optional<ParticleId>& greatest_id, DecompositionReport& report) {
  if (questions.empty()) return;
  std::vector<Interval> intervals;
  for (CutQuestion& q : questions) intervals.push_back(begin(q));
  const Count few = few_enough_to_gather(options.method, intervals.size());
  search<services::CountLeft>(tree, options, few, intervals, ask_coordinates, report);
  search_gathered(tree, intervals, report);

  std::vector<Interval> ties;
  for (const Interval& found : intervals) {
    CutQuestion& q = *found.question;
    q.cut = {0, static_cast<Coordinate>(found.first), q.axis};
    q.left = found.below.count;
    if (is_tied(found)) ties.push_back({&q, 0, 0, found.below, found.inside});
  }
  if (ties.empty()) return;
  if (!greatest_id) greatest_id = tree.call<services::GreatestId>({{0}})[0];
  for (Interval& tie : ties) tie.last = *greatest_id;
  search<services::SelectTie>(tree, options, 0, ties, ask_ids, report);
  for (const Interval& found : ties) {
    found.question->cut.id = found.first;
    found.question->left = found.below.count;
  }
}

}  // namespace grove
