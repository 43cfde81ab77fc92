#pragma once

#include <string>
#include <vector>

namespace grove {

struct Tick {
  double value;
  std::string label;  ///< as Font::draw() takes it; empty: a small tick without one
};

/// The scale of an axis: ticks at 1, 2 or 5 times powers of ten.
struct Scale {
  std::vector<Tick> ticks;  ///< from low to high
  /// value = offset + factor * label
  double offset = 0;
  int exponent = 0;  ///< factor: 10^exponent
};

/// Up to eight ticks between low and high > low, with labels of few digits: for values that are large or
/// small, or that differ little from each other, of values less the offset and over the factor.
Scale linear_scale(double low, double high);

/// Ticks between low and high > low > 0 for an axis of logarithms: at powers of ten, with small ones between
/// them if they stand close; over a narrow range at multiples of them too. Offset 0, factor 1.
Scale logarithmic_scale(double low, double high);

}  // namespace grove
