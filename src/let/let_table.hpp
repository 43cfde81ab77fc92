#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/message_exchange.hpp"
#include "decomposition/known_cells.hpp"
#include "kernels/math/top_table.hpp"
#include "let/let_message.hpp"

namespace grove {

/// How locally essential trees hang together, of which the values travel in another way: from GPU to GPU.
struct LetTable {
  /// A cell whose parent may be opened, or a cover. Children lie behind their parents, siblings together.
  struct Cell {
    std::int32_t child = -1;  ///< the left one, if it may be opened: counted from the first cell
    std::int32_t tree = -1;   ///< of a leaf that may be opened: number in `trees`
    std::int32_t is_leaf = 0;
  };
  struct Tree {
    std::int32_t nodes, particles;  ///< that are sent
  };
  std::vector<std::int32_t> covers;  ///< their numbers; the first cells are these
  std::vector<Cell> cells;
  std::vector<Tree> trees;

  /// Cells whose values are sent: all but covers, which all ranks know.
  Count sent_cells() const { return static_cast<Count>(cells.size() - covers.size()); }
  LetCounts counts() const;
};

/// The numbers that a rank gives the cells and leaves that it knows. own: its leaves; rank: this one.
TopTable top_table(const KnownCells& known, const OwnLeaves& own, int rank);

/// The part of the own tree that another rank may open. opens(cell): whether it may open this one, or one
/// below it. tree(leaf): the number of an own leaf's tree among those that are sent. sent (out): the cells
/// whose values are, appended.
LetTable let_table(const TopTable& top, const std::function<bool(std::int32_t cell)>& opens,
                   const std::function<std::int32_t(std::int32_t leaf)>& tree,
                   std::vector<std::int32_t>& sent);

/// What other ranks have sent, by the numbers that this rank gives it.
struct NumberedLets {
  ImportedTop top;
  std::vector<std::int32_t> leaves;  ///< of the trees, sender by sender
};
NumberedLets number_lets(const TopTable& top, std::span<const LetTable> received);

/// The table as a message, and back. Throws std::runtime_error if it is none.
Array<MessageBlock> pack_table(const LetTable& table);
LetTable unpack_table(const Message& message);

}  // namespace grove
