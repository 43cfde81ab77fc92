#include "decomposition/leaf_owners.hpp"

#include <algorithm>
#include <stdexcept>

namespace grove {

int owner_of(std::int32_t number, std::span<const std::int32_t> first) {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), number) - first.begin()) - 1;
}

LeafOwners::LeafOwners(std::span<const Run> runs, LeafNumber leaves, int ranks)
    : leaves_(leaves), ranks_(ranks) {
  LeafNumber begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const LeafNumber end = i + 1 < runs.size() ? runs[i + 1].first_leaf : leaves;
    if (runs[i].first_leaf != begin || end < begin || runs[i].rank < 0 || runs[i].rank >= ranks)
      throw std::logic_error("runs of leaves that do not hold each leaf once");
    begin = end;
    if (end == runs[i].first_leaf) continue;
    if (runs_.empty() || runs_.back().rank != runs[i].rank) runs_.push_back(runs[i]);
  }
  if (begin != leaves) throw std::logic_error("runs of leaves that do not hold each leaf once");
}

std::size_t LeafOwners::run_of(LeafNumber leaf) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), leaf,
                                       [](LeafNumber l, const Run& run) { return l < run.first_leaf; });
  return static_cast<std::size_t>(behind - runs_.begin()) - 1;
}

std::vector<int> LeafOwners::owners(LeafNumber first, LeafNumber leaves) const {
  std::vector<int> ranks;
  for (std::size_t run = run_of(first); run < runs_.size() && runs_[run].first_leaf < first + leaves; ++run)
    ranks.push_back(runs_[run].rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

OwnLeaves LeafOwners::own(int rank) const {
  OwnLeaves own;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].rank == rank) own.add(runs_[i].first_leaf, end(i));
  return own;
}

}  // namespace grove
