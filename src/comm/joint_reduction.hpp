#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "comm/communicator.hpp"

namespace grove {

/// Sums, exclusive ors and maxima over all ranks that travel together:
///
///   JointReduction().sum(particles).max(std::span(seconds)).apply(comm);
///
/// Each place gets the result, on every rank. All ranks must name the same places in the same order. Sums
/// are of integers, modulo 2^64, so that their result does not depend on the order.
class JointReduction {
 public:
  template <std::integral T>
  JointReduction& sum(std::span<T> values) {
    static_assert(sizeof(T) == 8);
    return add(
        sums_, values, [](T value) { return static_cast<std::uint64_t>(value); },
        [](std::uint64_t word) { return static_cast<T>(word); });
  }
  template <std::integral T>
  JointReduction& sum(T& value) {
    return sum(std::span<T>(&value, 1));
  }

  JointReduction& exclusive_or(std::uint64_t& value) {
    return add(exclusive_ors_, std::span<std::uint64_t>(&value, 1), key_of<std::uint64_t>,
               value_of<std::uint64_t>);
  }

  /// None may be NaN.
  template <class T>
  requires std::is_arithmetic_v<T> JointReduction& max(std::span<T> values) {
    return add(maxima_, values, key_of<T>, value_of<T>);
  }
  template <class T>
  requires std::is_arithmetic_v<T> JointReduction& max(T& value) { return max(std::span<T>(&value, 1)); }

  /// Collective. The places must still be there. Cost: one reduction.
  void apply(const Communicator& comm);
  /// The same, if all ranks are ready; if not, returns false on all, and no place gets anything.
  bool apply_if(const Communicator& comm, bool is_ready);

 private:
  struct Words {
    std::vector<std::uint64_t> values;
    std::vector<std::function<const std::uint64_t*(const std::uint64_t*)>> fetch;  ///< each takes some
  };

  template <class T, class Encode, class Decode>
  JointReduction& add(Words& words, std::span<T> values, const Encode& encode, const Decode& decode) {
    for (const T& value : values) words.values.push_back(encode(value));
    words.fetch.push_back([values, decode](const std::uint64_t* from) {
      for (T& value : values) value = decode(*from++);
      return from;
    });
    return *this;
  }

  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;

  /// Words in the order of the values.
  template <class T>
  static std::uint64_t key_of(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
      return bits & sign ? ~bits : bits | sign;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ sign;
    } else {
      return value;
    }
  }
  template <class T>
  static T value_of(std::uint64_t key) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(std::bit_cast<double>(key & sign ? key ^ sign : ~key));
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(key ^ sign));
    else
      return static_cast<T>(key);
  }

  std::vector<std::uint64_t> packed() const;
  void put(const std::vector<std::uint64_t>& block) const;

  Words sums_, exclusive_ors_, maxima_;
};

}  // namespace grove
