#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace grove {

/// A sum of numbers of very different sizes that does not depend on their order: integers, each of which
/// counts another 32 binary digits of the terms. Sums of sums are those of the integers.
struct WideSum {
  static constexpr int limbs = 5;

  /// limb[i] counts units of weight(i). Fewer than 2^31 terms cannot overflow one.
  std::int64_t limb[limbs] = {};

  GROVE_HOST_DEVICE static constexpr double weight(int i) {
    constexpr double weights[limbs] = {0x1p-96, 0x1p-64, 0x1p-32, 1, 0x1p32};
    return weights[i];
  }

  /// Calls add(i, count) for each limb that a term adds to. term: from 0 to below 2^63; what it has below
  /// 2^-96 is cut off.
  template <class Add>
  GROVE_HOST_DEVICE static void split(double term, const Add& add) {
    GROVE_UNROLL
    for (int i = limbs - 1; i >= 0; --i) {
      const double count = std::floor(term * (1 / weight(i)));
      if (count > 0) add(i, static_cast<std::int64_t>(count));
      term -= count * weight(i);
    }
  }

  GROVE_HOST_DEVICE void add(double term) {
    split(term, [&](int i, std::int64_t count) { limb[i] += count; });
  }

  /// Rounded a few times, in a fixed order.
  double value() const {
    std::int64_t carried = 0, digits[limbs];
    for (int i = 0; i < limbs; ++i) {
      digits[i] = limb[i] + carried;
      carried = i + 1 < limbs ? digits[i] >> 32 : 0;
      digits[i] -= carried * (std::int64_t{1} << 32);
    }
    double sum = 0;
    for (int i = 0; i < limbs; ++i) sum += static_cast<double>(digits[i]) * weight(i);
    return sum;
  }
};

}  // namespace grove
