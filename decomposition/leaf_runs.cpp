#include "decomposition/leaf_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace grove {
namespace {

std::vector<Count> running_sums(std::span<const Count> values) {
  std::vector<Count> sums(values.size() + 1, 0);
  std::inclusive_scan(values.begin(), values.end(), sums.begin() + 1);
  return sums;
}

/// The latest end of a run that begins with this leaf, if it has at most so much. before: what the
/// leaves before each have.
std::int32_t latest_end_of(std::span<const Count> before, std::int32_t first, Count most) {
  const Count last = before[static_cast<std::size_t>(first)] + most;
  return static_cast<std::int32_t>(std::upper_bound(before.begin(), before.end(), last) - before.begin()) - 1;
}
/// Its earliest begin, if it ends here.
std::int32_t earliest_begin_of(std::span<const Count> before, std::int32_t end, Count most) {
  const Count first = before[static_cast<std::size_t>(end)] - most;
  return static_cast<std::int32_t>(std::lower_bound(before.begin(), before.end(), first) - before.begin());
}

/// Which runs hold how many particles at most.
struct Room {
  Room(std::span<const Count> particles, std::span<const std::int32_t> current)
      : before(running_sums(particles)) {
    const std::size_t ranks = current.size() - 1;
    const double mean = static_cast<double>(before.back()) / static_cast<double>(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Count now = before[static_cast<std::size_t>(current[rank + 1])] -
                        before[static_cast<std::size_t>(current[rank])];
      most.push_back(std::max(now, static_cast<Count>(most_of_mean * mean)));
    }
  }

  std::vector<Count> before;  ///< [leaves + 1] particles of the leaves before each
  std::vector<Count> most;    ///< by rank
};

/// Which runs last at most so long, and have room.
class Limit {
 public:
  Limit(std::span<const Count> work_before, const Room& room, std::span<const double> speeds, double seconds)
      : before_(work_before), room_(room), speeds_(speeds), seconds_(seconds) {}

  /// The latest end of the run of a rank that begins with this leaf.
  std::int32_t latest_end(std::size_t rank, std::int32_t first) const {
    return std::min(latest_end_of(before_, first, most(rank)),
                    latest_end_of(room_.before, first, room_.most[rank]));
  }
  /// Its earliest begin, if it ends here.
  std::int32_t earliest_begin(std::size_t rank, std::int32_t end) const {
    return std::max(earliest_begin_of(before_, end, most(rank)),
                    earliest_begin_of(room_.before, end, room_.most[rank]));
  }
  bool holds_all() const {
    std::int32_t end = 0;
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank) end = latest_end(rank, end);
    return end == leaves();
  }
  /// Those of the runs that keep to it which are near to others.
  std::vector<std::int32_t> nearest(std::span<const std::int32_t> current) const {
    std::vector<std::int32_t> earliest(current.size()), runs(current.size(), 0);
    earliest.back() = runs.back() = leaves();
    for (std::size_t rank = speeds_.size(); rank-- > 1;)
      earliest[rank] = earliest_begin(rank, earliest[rank + 1]);
    for (std::size_t rank = 1; rank < speeds_.size(); ++rank)
      runs[rank] = std::clamp(current[rank], std::max(earliest[rank], runs[rank - 1]),
                              latest_end(rank - 1, runs[rank - 1]));
    return runs;
  }

 private:
  std::int32_t leaves() const { return static_cast<std::int32_t>(before_.size()) - 1; }
  /// Work of a rank, all at most: of a slow rank's seconds a fast one may make more than a Count holds.
  Count most(std::size_t rank) const {
    const double work = seconds_ * speeds_[rank];
    return work < static_cast<double>(before_.back()) ? static_cast<Count>(work) : before_.back();
  }

  std::span<const Count> before_;  ///< [leaves + 1] work of the leaves before each
  const Room& room_;
  std::span<const double> speeds_;
  double seconds_;
};

}  // namespace

double longest_time(std::span<const Count> work, std::span<const std::int32_t> runs,
                    std::span<const double> speeds) {
  double longest = 0;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const Count sum = std::accumulate(work.begin() + runs[rank], work.begin() + runs[rank + 1], Count{0});
    longest = std::max(longest, static_cast<double>(sum) / speeds[rank]);
  }
  return longest;
}

std::vector<std::int32_t> runs_of_least_time(std::span<const Count> work, std::span<const Count> particles,
                                             std::span<const std::int32_t> current,
                                             std::span<const double> speeds) {
  constexpr double enough = 1.005;
  const std::vector<Count> before = running_sums(work);
  // The least lies between what perfect shares would take and what there is.
  double low = static_cast<double>(before.back()) / std::accumulate(speeds.begin(), speeds.end(), 0.0);
  double high = longest_time(work, current, speeds);
  if (high <= enough * low) return {current.begin(), current.end()};
  const Room room(particles, current);
  bool shorter = false;
  while (high > enough * low) {
    const double middle = 0.5 * (low + high);
    if (Limit(before, room, speeds, middle).holds_all()) {
      high = middle;
      shorter = true;
    } else {
      low = middle;
    }
  }
  if (!shorter) return {current.begin(), current.end()};
  return Limit(before, room, speeds, high).nearest(current);
}

std::vector<double> bounded_speeds(std::span<const double> speeds) {
  std::vector<double> fastest(speeds.begin(), speeds.end());
  std::sort(fastest.begin(), fastest.end(), std::greater<>());
  const auto ranks = static_cast<double>(speeds.size());
  double rest = std::accumulate(fastest.begin(), fastest.end(), 0.0);
  // If so many ranks have a bounded speed b and the others `rest`, b = most_of_mean (bounded b + rest) / P.
  // Not all ranks can have more than the mean, so the loop ends while the divisor is positive.
  double bound = most_of_mean * rest / ranks;
  for (std::size_t bounded = 0; fastest[bounded] > bound;) {
    rest -= fastest[bounded++];
    bound = most_of_mean * rest / (ranks - most_of_mean * static_cast<double>(bounded));
  }
  std::vector<double> result;
  for (const double speed : speeds) result.push_back(std::min(speed, bound));
  return result;
}

Count most_moved(std::span<const Count> amount, std::span<const std::int32_t> from,
                 std::span<const std::int32_t> to) {
  const std::vector<Count> before = running_sums(amount);
  const auto between = [&](std::int32_t first, std::int32_t last) {
    return before[static_cast<std::size_t>(std::max(first, last))] - before[static_cast<std::size_t>(first)];
  };
  Count most = 0;
  for (std::size_t rank = 0; rank + 1 < from.size(); ++rank) {
    const Count staying = between(std::max(from[rank], to[rank]), std::min(from[rank + 1], to[rank + 1]));
    most =
        std::max(most, between(from[rank], from[rank + 1]) + between(to[rank], to[rank + 1]) - 2 * staying);
  }
  return most;
}

}  // namespace grove
