#include "let/let_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace grove {

LetCounts LetTable::counts() const {
  LetCounts counts{.trees = static_cast<Count>(trees.size())};
  for (const Tree& tree : trees) {
    counts.nodes += tree.nodes;
    counts.particles += tree.particles;
  }
  return counts;
}

TopTable top_table(const KnownCells& known, const OwnLeaves& own, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  TopTable table;
  table.covers = known.cover;
  table.first_own_cover = known.first_cover[r];
  table.own_covers = known.first_cover[r + 1] - known.first_cover[r];
  table.own_leaves = table.leaves = own.size();
  for (const Cell& cell : known.cells) {
    const std::int32_t below = own.among(cell.first_leaf, cell.leaves);
    if (cell.child >= 0 || below == cell.leaves) {
      table.cells.push_back({cell.child, own.before(cell.first_leaf), below});
    } else if (cell.leaves == 1) {
      table.cells.push_back({-1, table.leaves++, 1});
    } else {
      table.cells.push_back(TopLinks::unknown());
    }
  }
  return table;
}

LetTable let_table(const TopTable& top, const std::function<bool(std::int32_t cell)>& opens,
                   const std::function<std::int32_t(std::int32_t leaf)>& tree,
                   std::vector<std::int32_t>& sent) {
  LetTable table;
  std::vector<std::int32_t> numbers;
  for (std::int32_t i = 0; i < top.own_covers; ++i) {
    const std::int32_t cover = top.first_own_cover + i, cell = top.covers[static_cast<std::size_t>(cover)];
    if (!opens(cell)) continue;
    table.covers.push_back(cover);
    numbers.push_back(cell);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const TopLinks& links = top.cells[static_cast<std::size_t>(numbers[i])];
    LetTable::Cell& cell = table.cells.emplace_back();
    cell.is_leaf = links.is_leaf() ? 1 : 0;
    if (!opens(numbers[i])) continue;
    if (links.is_leaf()) {
      cell.tree = tree(links.first_leaf);
      continue;
    }
    cell.child = static_cast<std::int32_t>(numbers.size());
    numbers.push_back(links.child);
    numbers.push_back(links.child + 1);
  }
  sent.insert(sent.end(), numbers.begin() + static_cast<std::ptrdiff_t>(table.covers.size()), numbers.end());
  return table;
}

namespace {

/// Numbers of cells and leaves while what ranks have sent is taken in.
class Numbering {
 public:
  Numbering(const TopTable& top, NumberedLets& lets) : top_(top), lets_(lets) {
    lets.top.leaves = top.leaves;
  }

  void take(const LetTable& table) {
    const auto covers = static_cast<std::int32_t>(table.covers.size());
    const auto first = static_cast<std::int32_t>(top_.cells.size() + lets_.top.cells.size()) - covers;
    std::vector<std::int32_t> leaves(table.trees.size());
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(table.cells.size()); ++i) {
      const LetTable::Cell& cell = table.cells[static_cast<std::size_t>(i)];
      const std::int32_t child = cell.child < 0 ? -1 : first + cell.child;
      const std::int32_t leaf = i < covers ? hang(table.covers[static_cast<std::size_t>(i)], child)
                                           : append(child, cell.is_leaf != 0);
      if (cell.tree >= 0) leaves.at(static_cast<std::size_t>(cell.tree)) = leaf;
    }
    lets_.leaves.insert(lets_.leaves.end(), leaves.begin(), leaves.end());
  }

 private:
  /// Returns the number of the leaf that a cover is.
  std::int32_t hang(std::int32_t cover, std::int32_t child) {
    const std::int32_t cell = top_.covers.at(static_cast<std::size_t>(cover));
    if (child >= 0) lets_.top.hung.push_back({cell, child});
    return top_.cells[static_cast<std::size_t>(cell)].first_leaf;
  }
  std::int32_t append(std::int32_t child, bool is_leaf) {
    if (is_leaf)
      lets_.top.cells.push_back({-1, lets_.top.leaves++, 1});
    else
      lets_.top.cells.push_back(child < 0 ? TopLinks::unknown() : TopLinks{child, -1, 0});
    return lets_.top.cells.back().first_leaf;
  }

  const TopTable& top_;
  NumberedLets& lets_;
};

}  // namespace

NumberedLets number_lets(const TopTable& top, std::span<const LetTable> received) {
  NumberedLets lets;
  Numbering numbering(top, lets);
  for (const LetTable& table : received) numbering.take(table);
  return lets;
}

namespace {

/// Calls take(array) for each array of a table, in the order in which they lie in a message.
template <class Table, class Take>
void for_each_array(Table& table, const Take& take) {
  take(table.covers);
  take(table.cells);
  take(table.trees);
}

using Lengths = std::array<Count, 3>;

std::size_t blocks_of(const LetTable& table) {
  std::size_t bytes = sizeof(Lengths);
  for_each_array(table, [&](const auto& array) { bytes += array.size() * sizeof(array[0]); });
  return (bytes + sizeof(MessageBlock) - 1) / sizeof(MessageBlock);
}

}  // namespace

Array<MessageBlock> pack_table(const LetTable& table) {
  Lengths lengths{};
  std::size_t i = 0;
  for_each_array(table, [&](const auto& array) { lengths[i++] = static_cast<Count>(array.size()); });
  Array<MessageBlock> blocks(blocks_of(table));
  auto* to = reinterpret_cast<std::byte*>(blocks.data());
  std::memcpy(to, &lengths, sizeof(lengths));
  to += sizeof(lengths);
  for_each_array(table, [&](const auto& array) {
    const std::size_t bytes = array.size() * sizeof(array[0]);
    if (bytes > 0) std::memcpy(to, array.data(), bytes);
    to += bytes;
  });
  return blocks;
}

LetTable unpack_table(const Message& message) {
  Lengths lengths{};
  LetTable table;
  const std::size_t bytes = message.blocks.size() * sizeof(MessageBlock);
  const auto* from = reinterpret_cast<const std::byte*>(message.blocks.data());
  if (bytes > 0) std::memcpy(&lengths, from, sizeof(lengths));
  const auto is_wrong = [&](Count length) { return length < 0 || length > static_cast<Count>(bytes); };
  bool is_table = bytes > 0 && std::none_of(lengths.begin(), lengths.end(), is_wrong);
  if (is_table) {
    std::size_t i = 0;
    for_each_array(table, [&](auto& array) { array.resize(static_cast<std::size_t>(lengths[i++])); });
    is_table = blocks_of(table) == message.blocks.size();
  }
  if (!is_table)
    throw std::runtime_error(
        fmt::format("rank {} sent {} bytes that are no table of trees", message.rank, bytes));
  from += sizeof(lengths);
  for_each_array(table, [&](auto& array) {
    const std::size_t length = array.size() * sizeof(array[0]);
    if (length > 0) std::memcpy(array.data(), from, length);
    from += length;
  });
  return table;
}

}  // namespace grove
