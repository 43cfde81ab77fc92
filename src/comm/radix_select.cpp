#include "comm/radix_select.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "base/array.hpp"

namespace grove {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// How often each digit occurs. Four tables in turn: neighbouring keys often share a digit, and a counter
/// that was just written is slow to read again.
template <class Key, class Digit>
std::vector<Count> count_digits(std::span<const Key> keys, const Digit& digit) {
  std::vector<std::uint32_t> tables(4 * digits, 0);  // a rank has less than 2^32 particles
  for (std::size_t i = 0; i < keys.size(); ++i) ++tables[(i % 4) * digits + digit(keys[i])];
  std::vector<Count> counts(digits, 0);
  for (std::size_t i = 0; i < tables.size(); ++i) counts[i % digits] += tables[i];
  return counts;
}

/// Goes through the digits from the most significant one; `keys` is read once, survivors are copied.
template <class Key>
Key select(const Communicator& comm, std::span<const Key> keys, Count k) {
  constexpr int bits = 8 * sizeof(Key);
  Array<Key> survivors;
  Key found = 0;
  for (int high = bits; high > 0;) {
    const int low = high > digit_bits ? high - digit_bits : 0;
    const std::size_t mask = (std::size_t{1} << (high - low)) - 1;
    const auto digit = [=](Key key) { return static_cast<std::size_t>(key >> low) & mask; };

    std::vector<Count> counts = count_digits(keys, digit);
    const std::vector<Count> own = counts;
    comm.sum(std::span<Count>(counts));
    std::size_t wanted = 0;
    while (k >= counts[wanted]) k -= counts[wanted++];
    found |= static_cast<Key>(wanted) << low;

    // Every key is written, and overwritten unless it survives: no branch to guess. So there is one more
    // place.
    Array<Key> next(static_cast<std::size_t>(own[wanted]) + 1);
    std::size_t kept = 0;
    for (const Key key : keys) {
      next[kept] = key;
      kept += digit(key) == wanted;
    }
    survivors = std::move(next);
    keys = std::span<const Key>(survivors).first(kept);
    high = low;
  }
  return found;
}

}  // namespace

std::uint32_t select_key(const Communicator& comm, std::span<const std::uint32_t> keys, Count k) {
  return select(comm, keys, k);
}

std::uint64_t select_key(const Communicator& comm, std::span<const std::uint64_t> keys, Count k) {
  return select(comm, keys, k);
}

float median(const Communicator& comm, std::span<const float> values) {
  const Count all = comm.sum(static_cast<Count>(values.size()));
  if (all == 0) return 0;
  // The bits of floats that are not negative, read as integers, are in the order of the floats.
  std::vector<std::uint32_t> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) keys[i] = std::bit_cast<std::uint32_t>(values[i]);
  return std::bit_cast<float>(select_key(comm, std::span<const std::uint32_t>(keys), (all - 1) / 2));
}

}  // namespace grove
