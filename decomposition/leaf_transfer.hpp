#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The way of arrays from runs of leaves to other runs of the same leaves. An array holds some elements of
/// each own leaf, leaf by leaf. Those that go to lower ranks lie first, then those that stay, then those that
/// go to higher ranks; arrivals likewise.
class LeafTransfer {
 public:
  /// Collective. from, to: first leaf of each rank, length P + 1, the same on every rank. begin: where the
  /// elements of each own leaf begin, length own leaves + 1.
  LeafTransfer(const Communicator& comm, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
               std::span<const Count> begin)
      : LeafTransfer(comm, counts_of(comm.rank(), from, to, begin)) {}

  /// The same of arrays with one element for each leaf.
  LeafTransfer(const Communicator& comm, std::span<const std::int32_t> from,
               std::span<const std::int32_t> to);

  /// The exchange of what leaves and arrives; nothing goes from a rank to itself.
  const ExchangePlan& plan() const { return plan_; }
  /// Elements of this rank: those that stay, and of leaves before these.
  std::size_t staying() const { return staying_; }
  std::size_t departing_before() const { return departing_before_; }
  std::size_t arriving_before() const { return arriving_before_; }
  /// Afterwards.
  std::size_t size() const { return staying_ + static_cast<std::size_t>(plan_.receive_total()); }

  /// Collective. values (in/out): those of the leaves before, then those of the leaves afterwards. Memory:
  /// what arrives, one round of what leaves, and a new array where the old one is too short. Cost: what stays
  /// is copied if leaves before it come or go.
  template <Wire T, class Allocator>
  void apply(std::vector<T, Allocator>& values) const {
    Array<T> arrived(static_cast<std::size_t>(plan_.receive_total()));
    const auto pack = [&](std::size_t begin, std::span<T> piece) {
      for (std::size_t i = 0; i < piece.size(); ++i) {
        const std::size_t number = begin + i;
        piece[i] = values[number < departing_before_ ? number : number + staying_];
      }
    };
    plan_.apply(pack, std::span<T>(arrived));
    values.resize(std::max(values.size(), size()));
    if (staying_ > 0 && arriving_before_ != departing_before_)
      std::memmove(values.data() + arriving_before_, values.data() + departing_before_, staying_ * sizeof(T));
    values.resize(size());
    const auto behind = arrived.begin() + static_cast<std::ptrdiff_t>(arriving_before_);
    std::copy(arrived.begin(), behind, values.begin());
    std::copy(behind, arrived.end(),
              values.begin() + static_cast<std::ptrdiff_t>(arriving_before_ + staying_));
  }

  /// The same with all fields.
  void apply(Particles& particles) const;

  /// For arrays with several elements a leaf: the first element of each leaf afterwards. begin: that of
  /// before, length own leaves + 1.
  std::vector<Count> beginnings(std::vector<Count> begin) const;

 private:
  struct Counts {
    std::vector<Count> sent;  ///< to each rank
    std::size_t self, staying;
  };
  static Counts counts_of(int rank, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                          std::span<const Count> begin);
  LeafTransfer(const Communicator& comm, Counts counts);

  ExchangePlan plan_;
  std::size_t staying_, departing_before_, arriving_before_;
};

}  // namespace grove
