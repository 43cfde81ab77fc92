#include "comm/radix_select.hpp"

#include <bit>
#include <numeric>
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

/// Counts the digits of keys in memory; `keys` is read once, what has the wanted prefix is copied.
template <class Key>
class Survivors {
 public:
  explicit Survivors(std::span<const Key> keys) : keys_(keys) {}

  std::vector<Count> operator()(const DigitQuestion& question) {
    if (question.high < bits) keep(question);
    last_ = question;
    counts_ = count_digits(keys_, [&](Key key) { return digit_of(key, question); });
    return counts_;
  }

 private:
  static constexpr int bits = 8 * sizeof(Key);
  static std::size_t digit_of(Key key, const DigitQuestion& question) {
    return static_cast<std::size_t>(key >> question.low) &
           ((std::size_t{1} << (question.high - question.low)) - 1);
  }

  /// Every key is written, and overwritten unless it survives: no branch to guess. So there is one more
  /// place.
  void keep(const DigitQuestion& question) {
    const std::size_t wanted = digit_of(static_cast<Key>(question.prefix), last_);
    Array<Key> next(static_cast<std::size_t>(counts_[wanted]) + 1);
    std::size_t kept = 0;
    for (const Key key : keys_) {
      next[kept] = key;
      kept += digit_of(key, last_) == wanted;
    }
    survivors_ = std::move(next);
    keys_ = std::span<const Key>(survivors_).first(kept);
  }

  std::span<const Key> keys_;
  Array<Key> survivors_;
  DigitQuestion last_{};
  std::vector<Count> counts_;
};

/// The key whose number number_of(all keys) tells; 0 if there are none.
template <class NumberOf>
std::uint64_t select(const Communicator& comm, int bits, const DigitCounter& count_digits,
                     JointReduction& joint, const NumberOf& number_of) {
  std::uint64_t found = 0;
  Count k = 0;
  for (int high = bits; high > 0;) {
    const int low = high > digit_bits ? high - digit_bits : 0;
    std::vector<Count> counts = count_digits({found, high, low});
    if (high == bits) {
      joint.sum(std::span<Count>(counts)).apply(comm);
      const Count all = std::accumulate(counts.begin(), counts.end(), Count{0});
      if (all == 0) return 0;
      k = number_of(all);
    } else {
      comm.sum(std::span<Count>(counts));
    }
    std::size_t wanted = 0;
    while (k >= counts[wanted]) k -= counts[wanted++];
    found |= static_cast<std::uint64_t>(wanted) << low;
    high = low;
  }
  return found;
}

}  // namespace

std::uint64_t select_key(const Communicator& comm, int bits, const DigitCounter& count_digits, Count k) {
  JointReduction alone;
  return select(comm, bits, count_digits, alone, [k](Count) { return k; });
}

std::uint64_t median_key(const Communicator& comm, int bits, const DigitCounter& count_digits,
                         JointReduction& joint) {
  return select(comm, bits, count_digits, joint, [](Count all) { return (all - 1) / 2; });
}

std::uint32_t select_key(const Communicator& comm, std::span<const std::uint32_t> keys, Count k) {
  return static_cast<std::uint32_t>(select_key(comm, 32, Survivors(keys), k));
}

std::uint64_t select_key(const Communicator& comm, std::span<const std::uint64_t> keys, Count k) {
  return select_key(comm, 64, Survivors(keys), k);
}

float median(const Communicator& comm, std::span<const float> values, JointReduction& joint) {
  // The bits of floats that are not negative, read as integers, are in the order of the floats.
  std::vector<std::uint32_t> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) keys[i] = std::bit_cast<std::uint32_t>(values[i]);
  const std::span<const std::uint32_t> all(keys);
  return std::bit_cast<float>(static_cast<std::uint32_t>(median_key(comm, 32, Survivors(all), joint)));
}

float median(const Communicator& comm, std::span<const float> values) {
  JointReduction alone;
  return median(comm, values, alone);
}

}  // namespace grove
