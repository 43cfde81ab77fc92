#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"

namespace grove {

/// The key with number k (from 0) in the ascending order of the keys of all ranks together; equal keys count
/// one by one. Exact, so independent of the number of ranks. Collective; 0 <= k < number of all keys.
///
/// Radix selection: a histogram of one digit of 11 bits, summed over ranks, tells the digit of the wanted
/// key; only keys with that digit remain for the next one. Cost: one pass over the keys, two more over what
/// remains, and one sum of 2048 counts per digit (3 for 32-bit keys, 6 for 64-bit keys).
std::uint32_t select_key(const Communicator& comm, std::span<const std::uint32_t> keys, Count k);
std::uint64_t select_key(const Communicator& comm, std::span<const std::uint64_t> keys, Count k);

/// The question of select_key() about the keys of this rank, wherever they are.
struct DigitQuestion {
  std::uint64_t prefix;  ///< only keys whose bits from `high` on are these count
  int high, low;         ///< the digit: bits low .. high - 1
  /// All keys count, those below `prefix` as having the first digit, and those that are too large the last
  /// one. The prefix may be any multiple of 2^low.
  bool is_window = false;

  int digits() const { return 1 << (high - low); }
  bool asks_all(int bits) const { return is_window || high == bits; }
};
/// Answers how often each digit occurs, at least 2^(high - low) counts. A question of all keys comes first,
/// and may come again; each other one has the answer to the last one in its prefix.
using DigitCounter = std::function<std::vector<Count>(const DigitQuestion&)>;
/// The same for keys of so many bits.
std::uint64_t select_key(const Communicator& comm, int bits, const DigitCounter& count_digits, Count k);

/// The lower median of the values of all ranks together: element (n - 1) / 2 in ascending order. Collective.
/// values: not negative, no NaN. 0 if there are none.
float median(const Communicator& comm, std::span<const float> values);

/// The lower median of keys of 32 bits, of which the last 11 become 0; 0 if there are none. If it is within
/// 2^21 - 2^12 of the guess one digit tells it, else two more are asked for; guess 0: two. joint: what else
/// is to be reduced, in the message of the first digit.
std::uint32_t rough_median_key(const Communicator& comm, std::uint32_t guess,
                               const DigitCounter& count_digits, JointReduction& joint);
/// The same of values as above: their lower median, rounded down to 12 bits behind the leading one. guess:
/// near enough if it is an eighth off.
float rough_median(const Communicator& comm, std::span<const float> values, float guess,
                   JointReduction& joint);

}  // namespace grove
