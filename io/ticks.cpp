#include "io/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace grove {
namespace {

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }
int decade_of(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-12)); }

/// The smallest 1, 2 or 5 times a power of ten that is at least so large.
double round_up(double length) {
  const double power = power_of_ten(decade_of(length));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * power >= length * (1 - 1e-12)) return digit * power;
  return 10 * power;
}

/// "300", "0.01", "10^{5}", "2x10^{5}", with a sign for x.
std::string label_of(double value) {
  if (value >= 0.999e-2 && value < 0.999e4) return fmt::format("{:g}", value);
  const int decade = decade_of(value);
  const double digits = value / power_of_ten(decade);
  const std::string power = fmt::format("10^{{{}}}", decade);
  return std::abs(digits - 1) < 1e-9 ? power : fmt::format("{:.3g}\xd7{}", digits, power);
}

/// Those of some multiples of the powers of ten that lie between.
std::vector<double> multiples(double low, double high, const std::vector<double>& digits) {
  std::vector<double> values;
  for (int decade = decade_of(low) - 1; decade <= decade_of(high) + 1; ++decade)
    for (const double digit : digits)
      if (const double value = digit * power_of_ten(decade);
          value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
        values.push_back(value);
  return values;
}

}  // namespace

Scale linear_scale(double low, double high) {
  constexpr double wanted = 6;
  Scale scale;
  const double span = high - low, largest = std::max(std::abs(low), std::abs(high));
  double step = round_up(span / wanted);
  if (largest > 1e3 * span) {
    const double coarse = 10 * power_of_ten(decade_of(span));
    scale.offset = std::round(0.5 * (low + high) / coarse) * coarse;
  }
  const double shown = std::max(std::abs(low - scale.offset), std::abs(high - scale.offset));
  if (shown >= 1e4 || step < 1e-2) scale.exponent = decade_of(shown);
  const double factor = power_of_ten(scale.exponent);
  const int decimals = std::max(0, -decade_of(step / factor));
  const double first = std::ceil((low - scale.offset) / step - 1e-9);
  for (double k = first; k * step <= high - scale.offset + 1e-9 * step; ++k)
    scale.ticks.push_back(
        {scale.offset + k * step, fmt::format("{:.{}f}", k * step / factor + 0.0, decimals)});
  return scale;
}

Scale logarithmic_scale(double low, double high) {
  constexpr std::size_t most = 7;
  const std::vector<double> decades = multiples(low, high, {1});
  std::vector<double> labelled = decades;
  if (labelled.size() < 3) labelled = multiples(low, high, {1, 2, 5});
  if (labelled.size() < 3) {
    labelled.clear();
    for (const Tick& tick : linear_scale(low, high).ticks) labelled.push_back(tick.value);
  }
  const std::size_t every = (labelled.size() + most - 1) / most;
  std::vector<double> small = every > 1 ? decades : multiples(low, high, {1, 2, 3, 4, 5, 6, 7, 8, 9});

  Scale scale;
  for (std::size_t i = 0; i < labelled.size(); i += every)
    scale.ticks.push_back({labelled[i], label_of(labelled[i])});
  for (const double value : small)
    if (std::none_of(scale.ticks.begin(), scale.ticks.end(),
                     [&](const Tick& tick) { return std::abs(tick.value - value) < 1e-6 * value; }))
      scale.ticks.push_back({value, ""});
  std::sort(scale.ticks.begin(), scale.ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return scale;
}

}  // namespace grove
