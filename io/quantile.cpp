#include "io/quantile.hpp"

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace grove {

double quantile(const Communicator& comm, const std::vector<double>& values, double fraction) {
  constexpr int bins = 1024, passes = 3;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  low = comm.min(low);
  high = comm.max(high);
  const auto total = static_cast<double>(comm.sum(static_cast<Count>(values.size())));
  if (!(high > low)) return total > 0 ? low : 0.0;
  double below = 0;
  // Each pass counts them in the bins of the one bin that matters.
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<Count> counts(bins, 0);
    const double width = (high - low) / bins;
    for (const double v : values)
      if (v >= low && v <= high) ++counts[static_cast<std::size_t>(std::min((v - low) / width, bins - 1.0))];
    comm.sum(std::span<Count>(counts));
    std::size_t bin = 0;
    while (bin + 1 < bins && below + static_cast<double>(counts[bin]) < fraction * total)
      below += static_cast<double>(counts[bin++]);
    low += static_cast<double>(bin) * width;
    high = low + width;
    if (!(low + width / bins > low)) break;  // as fine as doubles go
  }
  return low;
}

}  // namespace grove
