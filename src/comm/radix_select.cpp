#include "comm/radix_select.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
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
  explicit Survivors(std::span<const Key> keys) : all_(keys) {}

  std::vector<Count> operator()(const DigitQuestion& question) {
    if (question.asks_all(bits))
      keys_ = all_;
    else
      keep(question);
    last_ = question;
    counts_ = count_digits(keys_, [&](Key key) { return digit_of(key, question); });
    return counts_;
  }

 private:
  static constexpr int bits = 8 * sizeof(Key);
  static std::size_t digit_of(Key key, const DigitQuestion& question) {
    const auto last = static_cast<std::size_t>(question.digits()) - 1;
    if (!question.is_window) return static_cast<std::size_t>(key >> question.low) & last;
    const auto begin = static_cast<Key>(question.prefix);
    return key < begin ? 0 : std::min(static_cast<std::size_t>((key - begin) >> question.low), last);
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

  std::span<const Key> all_, keys_;
  Array<Key> survivors_;
  DigitQuestion last_{};
  std::vector<Count> counts_;
};

/// Goes from digit to digit to the key whose number number_of(all keys) tells.
template <class NumberOf>
class Selection {
 public:
  Selection(const Communicator& comm, const DigitCounter& count_digits, JointReduction& joint,
            const NumberOf& number_of)
      : comm_(comm), count_digits_(count_digits), joint_(&joint), number_of_(number_of) {}

  /// Among keys of so many bits; 0 if there are none. Bits below `last` are not asked for, and 0.
  std::uint64_t run(int bits, int last = 0) {
    std::uint64_t key = 0;
    Count before = 0;
    for (int high = bits; high > last;) {
      const int low = std::max(high - digit_bits, last);
      const auto found = ask({key, high, low}, before);
      if (!found) return 0;
      key |= found->digit << low;
      before = found->before;
      high = low;
    }
    return key;
  }
  /// The same without the last digit_bits, where it may be near a guess.
  std::uint64_t run_near(int bits, std::uint64_t guess) {
    constexpr int low = digit_bits, high = 2 * digit_bits;
    constexpr std::uint64_t before = std::uint64_t{1} << (high - 1);
    const std::uint64_t begin = guess < before ? 0 : (guess - before) >> low << low;
    const auto found = ask({begin, high, low, true});
    if (!found) return 0;
    // The first and the last digit hold all that lies outside.
    if (found->digit == 0 || found->digit + 1 == digits) return run(bits, low);
    return begin + (found->digit << low);
  }

 private:
  struct Found {
    std::uint64_t digit;
    Count before;  ///< keys with lower digits
  };

  /// The digit of the wanted key; nothing if there are no keys. before: keys that are lower than those asked.
  std::optional<Found> ask(const DigitQuestion& question, Count before = 0) {
    std::vector<Count> counts = count_digits_(question);
    if (joint_) {
      std::exchange(joint_, nullptr)->sum(std::span<Count>(counts)).apply(comm_);
      const Count all = std::accumulate(counts.begin(), counts.end(), Count{0});
      if (all == 0) return {};
      number_ = number_of_(all);
    } else {
      comm_.sum(std::span<Count>(counts));
    }
    std::size_t wanted = 0;
    while (number_ - before >= counts[wanted]) before += counts[wanted++];
    return Found{wanted, before};
  }

  const Communicator& comm_;
  const DigitCounter& count_digits_;
  JointReduction* joint_;  ///< until the first answer
  const NumberOf& number_of_;
  Count number_ = 0;  ///< of the wanted key
};

constexpr int bits_of_float = 32;

constexpr Count number_of_median(Count all) { return (all - 1) / 2; }

/// The bits of floats that are not negative, read as integers, are in the order of the floats.
std::vector<std::uint32_t> keys_of(std::span<const float> values) {
  std::vector<std::uint32_t> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) keys[i] = std::bit_cast<std::uint32_t>(values[i]);
  return keys;
}

}  // namespace

std::uint64_t select_key(const Communicator& comm, int bits, const DigitCounter& count_digits, Count k) {
  JointReduction alone;
  const auto number_of = [k](Count) { return k; };
  return Selection(comm, count_digits, alone, number_of).run(bits);
}

std::uint32_t rough_median_key(const Communicator& comm, std::uint32_t guess,
                               const DigitCounter& count_digits, JointReduction& joint) {
  Selection selection(comm, count_digits, joint, number_of_median);
  return static_cast<std::uint32_t>(guess == 0 ? selection.run(bits_of_float, digit_bits)
                                               : selection.run_near(bits_of_float, guess));
}

std::uint32_t select_key(const Communicator& comm, std::span<const std::uint32_t> keys, Count k) {
  return static_cast<std::uint32_t>(select_key(comm, 32, Survivors(keys), k));
}

std::uint64_t select_key(const Communicator& comm, std::span<const std::uint64_t> keys, Count k) {
  return select_key(comm, 64, Survivors(keys), k);
}

float median(const Communicator& comm, std::span<const float> values) {
  const std::vector<std::uint32_t> keys = keys_of(values);
  const DigitCounter count_digits = Survivors(std::span<const std::uint32_t>(keys));
  JointReduction alone;
  Selection selection(comm, count_digits, alone, number_of_median);
  return std::bit_cast<float>(static_cast<std::uint32_t>(selection.run(bits_of_float)));
}

float rough_median(const Communicator& comm, std::span<const float> values, float guess,
                   JointReduction& joint) {
  const std::vector<std::uint32_t> keys = keys_of(values);
  return std::bit_cast<float>(rough_median_key(comm, std::bit_cast<std::uint32_t>(guess),
                                               Survivors(std::span<const std::uint32_t>(keys)), joint));
}

}  // namespace grove
