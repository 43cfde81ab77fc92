#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/math/gas.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// Visitors of the walk through neighbours (neighbour_tree.hpp), for gas.
namespace grove {

/// Rates of change. Arrays by own particle; sources also by imported ones.
struct FindRates {
  struct Sum {
    GasRates rates;
    GasSource own;
  };
  GasParameters gas;
  double hubble;                  ///< GasSpace::hubble
  const std::uint8_t* is_wanted;  ///< in
  const GasSource* sources;       ///< in
  GasRates* rates;                ///< out

  GROVE_HOST_DEVICE bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
  GROVE_HOST_DEVICE Sum start(std::uint32_t i) const { return {{}, sources[i]}; }
  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair& pair) const {
    add_pair(sum.rates, gas, sum.own, sources[pair.source], pair.d, Distance::of(pair.r2), hubble);
  }
  GROVE_HOST_DEVICE void finish(std::uint32_t i, const Sum& sum) const { rates[i] = sum.rates; }
};

/// Neighbours' rungs are so many apart at most (Saitoh and Makino 2009, ApJ 697, L99).
inline constexpr int most_rungs_apart = 2;

/// Asks neighbours for the rung that they have to have at least. Raise: raises a number to at least another
/// one, where several threads do so at once; the largest of some whole numbers does not depend on their
/// order.
template <class Raise>
struct AskNeighbours {
  struct Sum {};
  const std::uint8_t* is_asking;  ///< in: own particles
  const std::uint8_t* rung;       ///< in: own and imported
  std::uint32_t* least;           ///< in/out: the same
  Raise raise;

  GROVE_HOST_DEVICE bool is_target(std::uint32_t i) const { return is_asking[i] != 0; }
  GROVE_HOST_DEVICE void particle(Sum&, const NeighbourPair& pair) const {
    const int wanted = rung[pair.target] - most_rungs_apart;
    if (wanted > rung[pair.source]) raise(least[pair.source], static_cast<std::uint32_t>(wanted));
  }
  GROVE_HOST_DEVICE void finish(std::uint32_t, const Sum&) const {}
};

}  // namespace grove
