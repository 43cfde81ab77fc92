#pragma once

#include <array>
#include <cstdint>

#include "base/vec3.hpp"

namespace grove {

/// Philox4x32 with 10 rounds: a bijection of the 128-bit counter under a 64-bit key whose outputs for
/// successive counters pass the known tests of randomness. Source: Salmon, Moraes, Dror and Shaw 2011,
/// "Parallel random numbers: as easy as 1, 2, 3", section 3.3 and its table of constants.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// The random numbers of one particle: they depend on the seed and the particle's index alone, so any rank
/// can make any particle. 2^64 particles of 2^64 numbers each.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t particle) : seed_(seed), particle_(particle) {}

  /// Uniform in the open interval (0, 1), 52 random bits.
  double uniform();
  /// Standard normal deviate (Box and Muller 1958).
  double normal();
  /// A vector of this length and random direction.
  Vec3d isotropic(double length);

 private:
  std::uint64_t seed_, particle_;
  std::uint64_t block_ = 0;
  std::array<double, 2> ready_{};
  int left_ = 0;
};

}  // namespace grove
