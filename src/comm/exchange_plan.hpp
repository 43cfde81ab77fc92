#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "comm/tell_some.hpp"

namespace grove {

/// An exchange of arrays between all ranks, planned once and applied to each field.
///
/// The elements to send are numbered in order of their destination rank; the received ones come in order of
/// their source rank. At most `round_bytes` (but a whole element) are under way from a rank at a time. Cost:
/// when planned, the counts are told to those ranks that get anything (tell_some()); when applied, one
/// message per pair of ranks that exchange anything (more if over round_bytes or INT_MAX).
class ExchangePlan {
 public:
  static constexpr std::size_t default_round_bytes = std::size_t{32} << 20;

  /// Collective. send_counts: elements for each rank, length P.
  ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
               std::size_t round_bytes = default_round_bytes);

  /// The same, and the largest of a number of each rank, which becomes known in the same call. Collective.
  /// most (in/out): that number, and the largest.
  static ExchangePlan with_largest(const Communicator& comm, std::span<const Count> send_counts, Count& most);

  /// The same where each rank knows what it gets. Not collective. receive_counts: elements from each rank,
  /// length P.
  ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
               std::span<const Count> receive_counts, std::size_t round_bytes = default_round_bytes);

  /// Several plans, whose counts travel together. Collective.
  template <std::size_t n>
  static std::vector<ExchangePlan> several(const Communicator& comm,
                                           const std::array<std::vector<Count>, n>& send_counts);

  Count send_total() const { return send_offsets_.back(); }
  Count receive_total() const { return receive_offsets_.back(); }
  /// Offsets of each rank's part, length P + 1.
  std::span<const Count> send_offsets() const { return send_offsets_; }
  std::span<const Count> receive_offsets() const { return receive_offsets_; }

  /// At most so many elements of this size are under way from a rank at a time.
  std::size_t round_elements(std::size_t element_size) const {
    return std::max<std::size_t>(round_bytes_ / element_size, 1);
  }

  /// The memory that elements are taken from and brought to, piece by piece. Each element is asked for once.
  struct Rounds {
    /// The place of `count` elements to send, from number `begin` on; valid until the next call.
    std::function<const void*(std::size_t begin, std::size_t count)> source;
    /// The place for `count` received elements, from number `begin` on.
    std::function<void*(std::size_t begin, std::size_t count)> target;
    /// They are there.
    std::function<void(std::size_t begin, std::size_t count)> arrived;
  };

  /// Which pairs of ranks exchange, by the number of elements that go from one to the other.
  using Pairs = std::function<bool(Count elements)>;
  static bool all_pairs(Count) { return true; }

  /// Collective, with the same `pairs` on all ranks.
  void apply(const Rounds& rounds, std::size_t element_size, const Pairs& pairs = all_pairs) const;

  /// Collective. send: length send_total(); receive: length receive_total(), must not overlap send.
  template <Wire T>
  void apply(std::span<const T> send, std::span<T> receive) const {
    apply({[&](std::size_t begin, std::size_t) { return send.data() + begin; }, into(receive), nothing},
          sizeof(T));
  }

  /// The same with elements that are put together piece by piece, each just before it is sent, so that no
  /// more than a round of them is in memory. pack(begin, piece) writes the elements to send from number
  /// `begin` on into the span `piece`; it is called at most once for each element.
  template <Wire T, class Pack>
  requires std::invocable<Pack, std::size_t, std::span<T>>
  void apply(Pack pack, std::span<T> receive, const Pairs& pairs = all_pairs) const {
    Array<T> packed(std::min(round_elements(sizeof(T)), most_sent_to_a_rank()));
    const auto source = [&](std::size_t begin, std::size_t count) {
      pack(begin, std::span<T>(packed.data(), count));
      return packed.data();
    };
    apply({source, into(receive), nothing}, sizeof(T), pairs);
  }

  /// The same, into a new array that replaces the old one.
  template <Wire T>
  void apply(Array<T>& field) const {
    Array<T> received(static_cast<std::size_t>(receive_total()));
    apply(std::span<const T>(field), std::span<T>(received));
    field = std::move(received);
  }

 private:
  template <class T>
  static auto into(std::span<T> receive) {
    return [receive](std::size_t begin, std::size_t) { return receive.data() + begin; };
  }
  static void nothing(std::size_t, std::size_t) {}
  std::size_t most_sent_to_a_rank() const;

  const Communicator& comm_;
  std::vector<Count> send_offsets_, receive_offsets_;
  std::size_t round_bytes_;
};

template <std::size_t n>
std::vector<ExchangePlan> ExchangePlan::several(const Communicator& comm,
                                                const std::array<std::vector<Count>, n>& send_counts) {
  const auto ranks = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  std::array<std::vector<Count>, n> receive_counts;
  for (std::size_t i = 0; i < n; ++i) {
    receive_counts[i].assign(ranks, 0);
    receive_counts[i][self] = send_counts[i][self];
  }
  std::vector<Told<std::array<Count, n>>> told;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::array<Count, n> counts;
    for (std::size_t i = 0; i < n; ++i) counts[i] = send_counts[i][rank];
    if (rank != self && counts != std::array<Count, n>{}) told.push_back({static_cast<int>(rank), counts});
  }
  for (const auto& heard : tell_some(comm, std::span<const Told<std::array<Count, n>>>(told)))
    for (std::size_t i = 0; i < n; ++i)
      receive_counts[i][static_cast<std::size_t>(heard.rank)] = heard.value[i];
  std::vector<ExchangePlan> plans;
  for (std::size_t i = 0; i < n; ++i)
    plans.emplace_back(comm, std::span<const Count>(send_counts[i]),
                       std::span<const Count>(receive_counts[i]));
  return plans;
}

}  // namespace grove
