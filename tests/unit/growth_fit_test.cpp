#include "tuning/growth_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace grove {
namespace {

using Points = std::vector<GrowthPoint>;

template <class Cost>
Points points_of(int count, Cost cost) {
  Points points;
  for (int i = 0; i < count; ++i) {
    const double age = 0.75 * i;  // ages need not be integers
    points.push_back({age, cost(age), 1.0 + i % 3});
  }
  return points;
}

// Noiseless data determine the coefficients up to rounding: 1e-16 a term, amplified by the condition of the
// fit, below 1e3 for ages 0..10.
constexpr double exact = 1e-12;

TEST(GrowthFit, exact_data_choose_their_law_and_its_coefficients) {
  const auto line = best_growth_fit(points_of(12, [](double x) { return 1.02 + 0.03 * x; }));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->law, GrowthLaw::linear);
  EXPECT_NEAR(line->coefficients[0], 1.02, exact);
  EXPECT_NEAR(line->coefficients[1], 0.03, exact);

  const auto power = best_growth_fit(points_of(12, [](double x) { return 0.98 * std::pow(1.07, x); }));
  ASSERT_TRUE(power);
  EXPECT_EQ(power->law, GrowthLaw::power);
  EXPECT_NEAR(power->coefficients[0], 0.98, exact);
  EXPECT_NEAR(power->coefficients[1], 1.07, exact);

  const auto parabola = best_growth_fit(points_of(12, [](double x) { return 1 + x * (0.01 + 0.004 * x); }));
  ASSERT_TRUE(parabola);
  EXPECT_EQ(parabola->law, GrowthLaw::parabolic);
  EXPECT_NEAR(parabola->coefficients[0], 1, exact);
  EXPECT_NEAR(parabola->coefficients[1], 0.01, exact);
  EXPECT_NEAR(parabola->coefficients[2], 0.004, exact);
}

// A least-squares fit is where chi-square is stationary: any small change of a coefficient raises it.
TEST(GrowthFit, every_law_is_at_the_minimum_of_chi_square) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.05);
  const Points points = points_of(20, [&](double x) { return 1 + 0.04 * x + noise(random); });
  const auto chi_square = [&](const GrowthFit& fit) {
    double sum = 0;
    for (const GrowthPoint& p : points) sum += p.weight * std::pow(p.cost - fit.cost(p.age), 2);
    return sum;
  };
  for (const GrowthLaw law : {GrowthLaw::linear, GrowthLaw::power, GrowthLaw::parabolic}) {
    const auto fit = fit_growth(law, points);
    ASSERT_TRUE(fit);
    const double least = chi_square(*fit);
    EXPECT_NEAR(fit->chi_square, least, 1e-13 * least);
    const int coefficients = law == GrowthLaw::parabolic ? 3 : 2;
    EXPECT_EQ(fit->degrees_of_freedom, 20 - coefficients);
    // A change of 1e-4 of a coefficient of order 0.01 or more raises chi-square by sum w (1e-6)^2 or more,
    // 1e-11; being off the minimum by 1e-4 would instead lower it on one side.
    for (int k = 0; k < coefficients; ++k)
      for (const double change : {-1e-4, 1e-4}) {
        GrowthFit other = *fit;
        other.coefficients[k] *= 1 + change;
        EXPECT_GT(chi_square(other), least) << static_cast<int>(law) << " " << k;
      }
  }
}

TEST(GrowthFit, takes_points_by_their_weight) {
  // Twice the weight is the point twice; no weight is no point.
  const Points once{{0, 1, 2}, {1, 1.3, 1}, {2, 1.2, 1}, {5, 9, 0}};
  const Points twice{{0, 1, 1}, {0, 1, 1}, {1, 1.3, 1}, {2, 1.2, 1}};
  for (const GrowthLaw law : {GrowthLaw::linear, GrowthLaw::power}) {
    const auto a = fit_growth(law, once), b = fit_growth(law, twice);
    ASSERT_TRUE(a && b);
    EXPECT_NEAR(a->coefficients[0], b->coefficients[0], exact);
    EXPECT_NEAR(a->coefficients[1], b->coefficients[1], exact);
    EXPECT_EQ(a->degrees_of_freedom + 1, b->degrees_of_freedom);
  }
  EXPECT_FALSE(fit_growth(GrowthLaw::parabolic, once));
}

TEST(GrowthFit, needs_a_point_more_than_coefficients_and_ages_that_differ) {
  const auto growing = [](double x) { return 1 + 0.1 * x * x; };
  EXPECT_FALSE(best_growth_fit({}));
  EXPECT_FALSE(best_growth_fit(points_of(2, growing)));
  EXPECT_TRUE(fit_growth(GrowthLaw::linear, points_of(3, growing)));
  EXPECT_TRUE(fit_growth(GrowthLaw::power, points_of(3, growing)));
  EXPECT_FALSE(fit_growth(GrowthLaw::parabolic, points_of(3, growing)));
  EXPECT_TRUE(fit_growth(GrowthLaw::parabolic, points_of(4, growing)));
  const Points one_age{{3, 1, 0.1}, {3, 1.1, 0.7}, {3, 1.2, 0.3}, {3, 1.3, 0.9}};
  EXPECT_FALSE(best_growth_fit(one_age));
  const Points two_ages{{0.1, 1, 0.1}, {0.1, 1.1, 0.7}, {3, 1.2, 0.3}, {3, 1.3, 0.9}};
  EXPECT_TRUE(fit_growth(GrowthLaw::linear, two_ages));
  EXPECT_FALSE(fit_growth(GrowthLaw::parabolic, two_ages));
  EXPECT_FALSE(fit_growth(GrowthLaw::power, Points{{0, 0, 1}, {1, 1, 1}, {2, 2, 1}}));
}

TEST(GrowthFit, constant_cost_is_a_line_without_slope) {
  // All three laws are exact here: the simplest one is taken.
  const auto fit = best_growth_fit(points_of(9, [](double) { return 1.1; }));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->law, GrowthLaw::linear);
  EXPECT_EQ(fit->chi_square, 0);
  EXPECT_NEAR(fit->coefficients[1], 0, exact);
}

TEST(GrowthFit, never_extrapolates_along_a_parabola_that_bends_down) {
  const Points points = points_of(12, [](double x) { return 1 + x * (0.1 - 0.005 * x); });
  const auto parabola = fit_growth(GrowthLaw::parabolic, points), best = best_growth_fit(points);
  ASSERT_TRUE(parabola && best);
  EXPECT_EQ(parabola->chi_square, 0);
  EXPECT_NE(best->law, GrowthLaw::parabolic);
}

}  // namespace
}  // namespace grove
