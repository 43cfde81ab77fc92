#include "decomposition/services/rank_particles.hpp"

#include <algorithm>
#include <numeric>

namespace grove {

void RankParticles::make_root(Count weight_of_all) {
  begin = {0};
  end = {static_cast<Count>(particles.size())};
  cell_weight = {weight_of_all};
}

void RankParticles::divide(std::int32_t cell, std::int32_t child, Count left) {
  const auto parent = static_cast<std::size_t>(cell), first = static_cast<std::size_t>(child),
             second = first + 1;
  begin.resize(std::max(begin.size(), second + 1));
  end.resize(begin.size());
  cell_weight.resize(begin.size());
  begin[first] = begin[parent];
  end[first] = begin[second] = begin[parent] + left;
  end[second] = end[parent];

  const bool first_is_less = 2 * left < end[parent] - begin[parent];
  const std::span<const Record> lesser = records_of(first_is_less ? child : child + 1);
  const Count sum = std::transform_reduce(lesser.begin(), lesser.end(), Count{0}, std::plus<>(),
                                          [this](const Record& r) { return weight_of(r); });
  cell_weight[first_is_less ? first : second] = sum;
  cell_weight[first_is_less ? second : first] = cell_weight[parent] - sum;
}

}  // namespace grove
