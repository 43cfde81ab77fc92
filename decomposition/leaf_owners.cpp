#include "decomposition/leaf_owners.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace grove {

int owner_of(std::int32_t number, std::span<const std::int32_t> first) {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), number) - first.begin()) - 1;
}

LeafOwners::LeafOwners(std::span<const Run> runs, std::int32_t leaves, int ranks)
    : leaves_(leaves), ranks_(ranks) {
  std::int32_t begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::int32_t end = i + 1 < runs.size() ? runs[i + 1].first_leaf : leaves;
    if (runs[i].first_leaf != begin || end < begin || runs[i].rank < 0 || runs[i].rank >= ranks)
      throw std::logic_error("runs of leaves that do not hold each leaf once");
    begin = end;
    if (end == runs[i].first_leaf) continue;
    if (runs_.empty() || runs_.back().rank != runs[i].rank) runs_.push_back(runs[i]);
  }
  if (begin != leaves) throw std::logic_error("runs of leaves that do not hold each leaf once");
}

LeafOwners LeafOwners::in_order(std::span<const std::int32_t> first_leaf) {
  const int ranks = static_cast<int>(first_leaf.size()) - 1;
  std::vector<Run> runs;
  for (int rank = 0; rank < ranks; ++rank) runs.push_back({first_leaf[static_cast<std::size_t>(rank)], rank});
  return {runs, first_leaf.back(), ranks};
}

std::size_t LeafOwners::run_of(std::int32_t leaf) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), leaf,
                                       [](std::int32_t l, const Run& run) { return l < run.first_leaf; });
  return static_cast<std::size_t>(behind - runs_.begin()) - 1;
}

OwnLeaves LeafOwners::own(int rank) const {
  OwnLeaves own;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].rank == rank) own.add(runs_[i].first_leaf, end(i));
  return own;
}

std::vector<Count> LeafOwners::left_to_right(std::span<const Count> by_rank) const {
  std::vector<std::ptrdiff_t> next(static_cast<std::size_t>(ranks_) + 1, 0);  // by rank
  for (std::size_t i = 0; i < runs_.size(); ++i)
    next[static_cast<std::size_t>(runs_[i].rank) + 1] += end(i) - runs_[i].first_leaf;
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Count> values;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::ptrdiff_t& from = next[static_cast<std::size_t>(runs_[i].rank)];
    const std::ptrdiff_t count = end(i) - runs_[i].first_leaf;
    values.insert(values.end(), by_rank.begin() + from, by_rank.begin() + from + count);
    from += count;
  }
  return values;
}

}  // namespace grove
