#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace grove {

/// Bytes of what a rank keeps, or has for a while, beside its particles, their trees and the trees that
/// others send: what could grow with the number of ranks, or of all particles. By what it is.
class TableBytes {
 public:
  enum Kind : std::size_t {
    cells,     ///< of the domain decomposition
    leaves,    ///< where the cell of each is, and its first particle
    runs,      ///< what each rank owns
    cuts,      ///< while cells are cut: what ranks tell each other, and how the work is shared out anew
    top_tree,  ///< moments of cells
    notices,   ///< what leaves or cells tell other ranks before a walk
    trees,     ///< where the trees of leaves are
    search,    ///< of those that may open trees
    exchange,  ///< how much goes to whom
  };
  static constexpr std::array names = {"cells",   "leaves", "runs",   "cuts",    "top_tree",
                                       "notices", "trees",  "search", "exchange"};

  std::uint64_t& operator[](Kind kind) { return bytes_[kind]; }
  std::uint64_t operator[](Kind kind) const { return bytes_[kind]; }
  TableBytes& operator+=(const TableBytes& o) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] += o.bytes_[i];
    return *this;
  }
  /// All, in the order of their names, for a maximum over ranks: each is then that of the rank with most.
  std::span<std::uint64_t> values() { return bytes_; }
  std::span<const std::uint64_t> values() const { return bytes_; }

 private:
  std::array<std::uint64_t, names.size()> bytes_{};
};

/// The bytes of the elements of arrays.
template <class... Arrays>
std::uint64_t bytes_of(const Arrays&... arrays) {
  return (std::uint64_t{0} + ... + (arrays.size() * sizeof(*arrays.data())));
}

}  // namespace grove
