#include "comm/radix_select.hpp"

#include <bit>
#include <vector>

namespace grove {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// Goes through the digits from the most significant one; `keys` is read once, survivors are copied.
template <class Key>
Key select(const Communicator& comm, std::span<const Key> keys, Count k) {
  constexpr int bits = 8 * sizeof(Key);
  std::vector<Key> survivors;
  std::vector<Count> histogram(digits);
  Key found = 0;
  for (int high = bits; high > 0;) {
    const int low = high > digit_bits ? high - digit_bits : 0;
    const std::size_t mask = (std::size_t{1} << (high - low)) - 1;
    const auto digit = [&](Key key) { return static_cast<std::size_t>(key >> low) & mask; };

    histogram.assign(digits, 0);
    for (const Key key : keys) ++histogram[digit(key)];
    comm.sum(std::span<Count>(histogram));
    std::size_t wanted = 0;
    while (k >= histogram[wanted]) k -= histogram[wanted++];
    found |= static_cast<Key>(wanted) << low;

    std::vector<Key> next;
    for (const Key key : keys)
      if (digit(key) == wanted) next.push_back(key);
    survivors = std::move(next);
    keys = survivors;
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
