#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// Bins for the coordinates around the middle of a cell, ascending: the farther from the middle, the
/// wider. Under `middle` the cut lies within two quanta of particles from the middle, under `centre` beside
/// it, so the bin that holds it has few particles, whatever their density is; one count of the bins brings
/// the search for the cut so far that the rest can be gathered.
struct MiddleBins {
  static constexpr std::int32_t per_octave = 8, octaves = 17;  ///< of distance; a power of two
  static constexpr std::int32_t on_a_side = per_octave * octaves, number = 2 * on_a_side;
  static constexpr std::int32_t too_far = -1;

  Coordinate middle;
  std::int32_t shift;  ///< distances are counted in units of 2^shift

  /// Those of a cell of this extent: up to a 32nd of it or more away, so that few keys are counted.
  GROVE_HOST_DEVICE static constexpr std::int32_t shift_for(Coordinate extent) {
    std::int32_t shift = 0;
    while (extent >> shift > 32 * reach) ++shift;
    return shift;
  }

  /// The bin of a coordinate, or too_far.
  GROVE_HOST_DEVICE std::int32_t bin_of(Coordinate c) const {
    // Without branches, which would be guessed wrong half of the time. Left of the middle all bits are turned
    // over: of the difference, and of the bin.
    const std::int32_t side = -static_cast<std::int32_t>(c < middle);
    const Coordinate distance = ((c - middle) ^ static_cast<Coordinate>(side)) >> shift;
    if (distance >= Coordinate{reach}) return too_far;
    return on_a_side + (logarithmic(static_cast<std::int32_t>(distance) + per_octave) ^ side);
  }

  /// The first coordinate of a bin; of bin `number`, the one behind the last. May lie outside of the root
  /// cube.
  GROVE_HOST_DEVICE std::int64_t begin_of(std::int32_t bin) const {
    const std::int64_t from_middle =
        bin >= on_a_side ? begin_of_distance(bin - on_a_side) : -begin_of_distance(on_a_side - bin);
    return middle + (from_middle << shift);
  }

 private:
  static constexpr std::int32_t reach = (per_octave << octaves) - per_octave;

  /// Exponent and first bits of the significand of a number that single precision holds exactly, from
  /// per_octave on.
  GROVE_HOST_DEVICE static std::int32_t logarithmic(std::int32_t integer) {
    const auto number = static_cast<float>(integer);
    std::int32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    constexpr std::int32_t significand = 23, kept = 3, bias = 127;
    return (bits >> (significand - kept)) - ((bias + kept) << kept);
  }
  GROVE_HOST_DEVICE static std::int64_t begin_of_distance(std::int32_t k) {
    return (static_cast<std::int64_t>(per_octave + k % per_octave) << (k / per_octave)) - per_octave;
  }
};

}  // namespace grove
