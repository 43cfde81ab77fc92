#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// An exchange of arrays between all ranks, planned once and applied to each field.
///
/// The elements to send lie in order of their destination rank; the received ones come in order of their
/// source rank. At most `round_bytes` are under way from a rank at a time. Cost: one all-to-all of counts
/// when planned; when applied, one message per pair of ranks that exchange anything (more if over round_bytes
/// or INT_MAX).
class ExchangePlan {
 public:
  static constexpr std::size_t default_round_bytes = std::size_t{256} << 20;

  /// Collective. send_counts: elements for each rank, length P.
  ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
               std::size_t round_bytes = default_round_bytes);

  Count send_total() const { return send_offsets_.back(); }
  Count receive_total() const { return receive_offsets_.back(); }
  /// Offsets of each rank's part, length P + 1.
  std::span<const Count> send_offsets() const { return send_offsets_; }
  std::span<const Count> receive_offsets() const { return receive_offsets_; }

  /// Collective. send: length send_total(); receive: length receive_total(), must not overlap send.
  template <Wire T>
  void apply(std::span<const T> send, std::span<T> receive) const {
    move_bytes(reinterpret_cast<const std::byte*>(send.data()), reinterpret_cast<std::byte*>(receive.data()),
               sizeof(T));
  }

  /// The same, into a new array that replaces the old one.
  template <Wire T>
  void apply(Array<T>& field) const {
    Array<T> received(static_cast<std::size_t>(receive_total()));
    apply(std::span<const T>(field), std::span<T>(received));
    field = std::move(received);
  }

 private:
  void move_bytes(const std::byte* send, std::byte* receive, std::size_t element_size) const;

  const Communicator& comm_;
  std::vector<Count> send_offsets_, receive_offsets_;
  std::size_t round_bytes_;
};

}  // namespace grove
