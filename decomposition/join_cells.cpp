#include "decomposition/join_cells.hpp"

#include <stdexcept>

namespace grove {

std::vector<Cell> join_cells(std::span<const Cell> top, std::span<const std::int32_t> uncut,
                             std::span<const Cell> subtrees) {
  std::vector<Cell> pool(top.begin(), top.end());
  pool.insert(pool.end(), subtrees.begin(), subtrees.end());
  std::size_t begin = top.size();
  for (const std::int32_t index : uncut) {
    const auto size = 2 * static_cast<std::size_t>(top[static_cast<std::size_t>(index)].leaves) - 1;
    if (begin + size > pool.size()) throw std::logic_error("cells of a subtree are missing");
    for (std::size_t i = begin; i < begin + size; ++i)
      if (!pool[i].is_leaf()) pool[i].child += static_cast<std::int32_t>(begin);
    pool[static_cast<std::size_t>(index)] = pool[begin];
    begin += size;
  }

  std::vector<Cell> joined{pool[0]};
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (joined[i].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(joined[i].child);
    joined[i].child = static_cast<std::int32_t>(joined.size());
    joined.push_back(pool[child]);
    joined.push_back(pool[child + 1]);
  }
  return joined;
}

}  // namespace grove
