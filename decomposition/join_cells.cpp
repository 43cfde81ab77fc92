#include "decomposition/join_cells.hpp"

#include <limits>
#include <stdexcept>

#include "kernels/math/leaf_numbers.hpp"

namespace grove {

std::size_t subtree_size(std::span<const Cell> subtrees, std::size_t root) {
  std::size_t size = 1;
  for (std::size_t i = 0; i < size; ++i) {
    if (root + size > subtrees.size()) throw std::logic_error("cells of a subtree are missing");
    if (!subtrees[root + i].is_leaf()) size += 2;
  }
  return size;
}

std::vector<Cell> join_cells(std::span<const Cell> top, std::span<const std::int32_t> uncut,
                             std::span<const Cell> subtrees) {
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> subtree_of(top.size(), none);  // where the subtree of a top cell begins
  std::size_t end = 0;
  for (const std::int32_t index : uncut) {
    subtree_of[static_cast<std::size_t>(index)] = end;
    end += subtree_size(subtrees, end);
  }

  const std::size_t size = top.size() + subtrees.size() - uncut.size();
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::length_error("more cells than one rank can number: use more ranks");
  std::vector<Cell> joined;
  std::vector<std::size_t> subtree;  // by joined cell: where the one begins that it is in; none: a top cell
  joined.reserve(size);
  subtree.reserve(size);
  const auto add = [&](std::size_t index, std::size_t begin) {
    if (begin == none && subtree_of[index] != none) {
      begin = subtree_of[index];
      index = 0;
    }
    joined.push_back(begin == none ? top[index] : subtrees[begin + index]);
    subtree.push_back(begin);
  };
  add(0, none);
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (joined[i].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(joined[i].child);
    joined[i].child = static_cast<std::int32_t>(joined.size());
    add(child, subtree[i]);
    add(child + 1, subtree[i]);
  }
  number_leaves(joined);
  return joined;
}

}  // namespace grove
