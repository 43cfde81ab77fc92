#pragma once

#include "base/types.hpp"

namespace grove {

/// A number of particles and what they weigh together.
struct Tally {
  Count count, weight;

  Tally& operator+=(const Tally& o) { return count += o.count, weight += o.weight, *this; }
  friend Tally operator+(Tally a, const Tally& b) { return a += b; }
  friend Tally operator-(const Tally& a, const Tally& b) { return {a.count - b.count, a.weight - b.weight}; }
};

}  // namespace grove
