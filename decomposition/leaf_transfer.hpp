#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "decomposition/leaf_owners.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The way of arrays from the owners of leaves to others. An array holds some elements of each own leaf, leaf
/// by leaf.
class LeafTransfer {
 public:
  /// Elements that follow each other both before and afterwards: of leaves that stay, in the array; of others
  /// in what leaves, or arrives, rank by rank.
  struct Stretch {
    std::size_t from, to, count;
  };

  /// For arrays with one element for each leaf. Not collective.
  LeafTransfer(const Communicator& comm, const LeafOwners& from, const LeafOwners& to);
  /// before, after: where the elements of each own leaf begin, length own leaves + 1; the latter as
  /// beginnings() has it. Not collective.
  LeafTransfer(const Communicator& comm, const LeafOwners& from, const LeafOwners& to,
               std::span<const Count> before, std::span<const Count> after);

  /// The exchange of what leaves and arrives; nothing goes from a rank to itself.
  const ExchangePlan& plan() const { return plan_; }
  /// Elements that are taken for the exchange, those that stay, and arrivals.
  std::span<const Stretch> departing() const { return ways_.departing; }
  std::span<const Stretch> staying() const { return ways_.staying; }
  std::span<const Stretch> arriving() const { return ways_.arriving; }
  /// Elements of this rank afterwards.
  std::size_t size() const { return ways_.size; }

  /// Collective. values (in/out): those of the leaves before, then those of the leaves afterwards. Memory:
  /// what arrives, one round of what leaves, and the new array. Cost: all is copied.
  template <Wire T, class Allocator>
  void apply(std::vector<T, Allocator>& values) const {
    Array<T> arrived(static_cast<std::size_t>(plan_.receive_total()));
    const auto pack = [&](std::size_t begin, std::span<T> piece) {
      const std::size_t end = begin + piece.size();
      for (const Stretch& part : ways_.departing) {
        const std::size_t first = std::max(begin, part.to), last = std::min(end, part.to + part.count);
        if (first >= last) continue;
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(part.from + first - part.to), last - first,
                    piece.begin() + static_cast<std::ptrdiff_t>(first - begin));
      }
    };
    plan_.apply(pack, std::span<T>(arrived));
    std::vector<T, Allocator> moved(size());
    const auto copy = [&](const auto& source, std::span<const Stretch> stretches) {
      for (const Stretch& part : stretches)
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(part.from), part.count,
                    moved.begin() + static_cast<std::ptrdiff_t>(part.to));
    };
    copy(values, ways_.staying);
    copy(arrived, ways_.arriving);
    values = std::move(moved);
  }

  /// The same with all fields.
  void apply(Particles& particles) const;

  /// Collective. The first element of each leaf afterwards in arrays with several a leaf; this is a transfer
  /// with one for each. begin: those of before, length own leaves + 1.
  std::vector<Count> beginnings(std::vector<Count> begin) const;

 private:
  struct Ways {
    std::vector<Stretch> departing, staying, arriving;
    std::vector<Count> sent, received;  ///< by rank
    std::size_t size = 0;
  };
  static Ways ways_of(int rank, const LeafOwners& from, const LeafOwners& to, std::span<const Count> before,
                      std::span<const Count> after);
  LeafTransfer(const Communicator& comm, Ways ways)
      : ways_(std::move(ways)), plan_(comm, ways_.sent, ways_.received) {}

  Ways ways_;
  ExchangePlan plan_;
};

}  // namespace grove
