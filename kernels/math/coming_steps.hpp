#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace grove {

/// Steps of a hierarchy of block time steps, should all particles stay on their rungs.
struct ComingSteps {
  static constexpr std::size_t known = 32;
  std::array<int, known> first_active{};  ///< of each, next one first
  double drift = 0;                       ///< of one: time; where space expands the integral of dt / a^2
};

/// The step in the middle of a life of so many steps, counted from 0, its first one: where the costs before
/// and behind balance. costs: of the first ones; later: of each later one. 0 where nothing costs. Source: the
/// place of least sum of cost times squared distance.
inline double middle_of_life(std::span<const double> costs, std::int64_t life, double later) {
  const auto known = std::min(static_cast<std::int64_t>(costs.size()), life);
  double sum = 0, moment = 0;
  for (std::int64_t i = 0; i < known; ++i) {
    const double cost = costs[static_cast<std::size_t>(i)];
    sum += cost;
    moment += cost * static_cast<double>(i);
  }
  const double of_later = later * static_cast<double>(life - known);
  sum += of_later;
  moment += of_later * 0.5 * static_cast<double>(known + life - 1);
  return sum > 0 ? moment / sum : 0;
}

/// The same, if later steps cost the mean of the first ones.
inline double middle_of_life(std::span<const double> costs, std::int64_t life) {
  const double sum = std::accumulate(costs.begin(), costs.end(), 0.0);
  return middle_of_life(costs, life, costs.empty() ? 0 : sum / static_cast<double>(costs.size()));
}

}  // namespace grove
