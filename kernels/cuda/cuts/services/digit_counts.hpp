#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace grove::cuda {

/// One digit of keys, of those keys whose bits from `high` on are those of `prefix`, unless it is a window.
struct Digit {
  std::uint64_t prefix;
  int high, low;   ///< bits low .. high - 1 are the digit, at most 11
  bool is_window;  ///< of keys less the prefix, and of all: as DigitQuestion::is_window
};

/// How often each digit occurs. values (device): not negative, no NaN; their bits are the keys. counts (out):
/// 2^(high - low). Cost: one pass.
void count_digits(const float* values, std::size_t count, const Digit& digit, std::span<Count> counts);

/// Particles on rungs of at least first_active. Device memory, both of the same length.
struct ActiveIds {
  const ParticleId* id;
  const std::uint8_t* rung;
  int first_active;
};
/// The same with their mixed ids (base/hash.hpp) as keys.
void count_digits(const ActiveIds& ids, std::size_t count, const Digit& digit, std::span<Count> counts);

/// Those of them whose mixed id is at most this, in ascending order. Cost: one pass, and four bytes per
/// particle for its duration.
std::vector<std::uint32_t> find_hashes(const ActiveIds& ids, std::size_t count, std::uint64_t last);

}  // namespace grove::cuda
