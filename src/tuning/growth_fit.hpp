#pragma once

#include <array>
#include <optional>
#include <span>

namespace grove {

/// How the cost of a walk grows with the age of what it walks, the simplest law first (linear and power law
/// have two coefficients, the parabola three).
enum class GrowthLaw { linear, power, parabolic };

/// One observation.
struct GrowthPoint {
  double age;     ///< since the build, in any unit: steps here
  double cost;    ///< any unit: relative to the cost on a fresh tree here
  double weight;  ///< 1/variance of the cost up to a common factor; without weight, a point does not exist
};

/// A law with its coefficients and how well it fits.
struct GrowthFit {
  GrowthLaw law;
  std::array<double, 3> coefficients;  ///< linear a + b x; power law a r^x: {a, r}; parabolic a + b x + c x^2
  double chi_square;                   ///< sum of weight * residual^2; 0 where only rounding is left
  int degrees_of_freedom;              ///< points with weight less coefficients, at least 1

  double cost(double age) const;
  double reduced_chi_square() const { return chi_square / degrees_of_freedom; }
};

/// Weighted least-squares fit of one law; nothing where the points do not determine it with a degree of
/// freedom to spare: fewer points than coefficients and one, too few ages, for the power law a cost that is
/// not positive. Cost: a few passes over the points, for the power law some 5. Sums in the order of the
/// points, so the same points give the same bits.
std::optional<GrowthFit> fit_growth(GrowthLaw law, std::span<const GrowthPoint> points);

/// The law of least reduced chi-square, the simplest among equals; nothing where none is determined. A
/// parabola that bends down is left out: beyond the data it would promise that old trees get better. Source:
/// Miki & Umemura 2017, New Astronomy 52, 65 (GOTHIC), which fits the time of the walk so.
std::optional<GrowthFit> best_growth_fit(std::span<const GrowthPoint> points);

}  // namespace grove
