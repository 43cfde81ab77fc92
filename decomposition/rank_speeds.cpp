#include "decomposition/rank_speeds.hpp"

#include <algorithm>
#include <cmath>

namespace grove {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void RankSpeeds::add(std::span<const RankSteps> steps) {
  std::vector<double> speeds, measured;
  for (const RankSteps& own : steps) {
    const Walked& w = own.walk;
    const bool is_measured = w.interactions > 0 && w.seconds > 0;
    speeds.push_back(is_measured ? static_cast<double>(w.interactions) / w.seconds : 0);
    if (is_measured) measured.push_back(speeds.back());
  }
  if (measured.empty()) return;
  const double others = median(measured);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    if (speeds[rank] > 0) continue;
    const double known = seen_.empty() ? others : seen_.front()[rank];
    speeds[rank] = known * std::sqrt(std::sqrt(std::sqrt(others / known)));
  }
  seen_.push_front(std::move(speeds));
  if (seen_.size() > remembered) seen_.pop_back();
  RankSteps all;
  for (const RankSteps& own : steps)
    if (own.walk.interactions > 0 && own.walk.seconds > 0) all += own;
  const double of_interaction = all.walk.seconds / static_cast<double>(all.walk.interactions),
               of_particle = all.particles > 0 ? all.other_seconds / static_cast<double>(all.particles) : 0;
  costs_.push_front(std::max(0.0, of_particle / of_interaction));
  if (costs_.size() > remembered) costs_.pop_back();
}

double RankSpeeds::particle_cost() const { return median({costs_.begin(), costs_.end()}); }

std::vector<double> RankSpeeds::typical() const {
  std::vector<double> result;
  for (std::size_t rank = 0; rank < seen_.front().size(); ++rank) {
    std::vector<double> own;
    for (const std::vector<double>& speeds : seen_) own.push_back(speeds[rank]);
    result.push_back(median(own));
  }
  return result;
}

}  // namespace grove
