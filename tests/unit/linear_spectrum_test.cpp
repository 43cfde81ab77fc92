// The linear power spectrum beside numbers that were computed apart from Grove: in Python, in double
// precision, from the formulas of Eisenstein and Hu's own program (tf_fit.c), normalised by a trapezoidal
// rule of four million points in ln k.
#include "cosmology/linear_spectrum.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace grove {
namespace {

constexpr double omega_matter = 0.3;

struct Point {
  double k, transfer, power;
};

void expect_points(bool smooth, double sound_horizon, const std::vector<Point>& points) {
  SpectrumParameters p;
  p.kind = smooth ? SpectrumKind::smooth : SpectrumKind::eisenstein_hu;
  const Transfer transfer({omega_matter, p.omega_baryon, p.h, p.temperature, smooth});
  const LinearSpectrum spectrum(omega_matter, p);
  // The numbers have ten digits; both quadratures are good to 1e-9.
  EXPECT_NEAR(transfer.sound_horizon() / sound_horizon, 1, 1e-9);
  for (const Point& point : points) {
    EXPECT_NEAR(transfer(point.k * p.h) / point.transfer, 1, 1e-9) << point.k;
    EXPECT_NEAR(spectrum(point.k) / point.power, 1, 5e-9) << point.k;
  }
  EXPECT_NEAR(spectrum.sigma(8), 0.8, 1e-14);
}

TEST(LinearSpectrum, is_that_of_eisenstein_and_hu) {
  expect_points(false, 150.0146892,
                {{0.002, 0.974521777, 6857.744083},
                 {0.05, 0.2746001336, 11968.01359},
                 {0.1, 0.132550841, 5424.682898},
                 {0.3, 0.03101743702, 852.8204465},
                 {5, 0.0003125570931, 1.289672098}});
  expect_points(true, 149.1555129,
                {{0.002, 0.9746108638, 6817.451123},
                 {0.05, 0.2809486287, 12451.90442},
                 {0.1, 0.1351762489, 5607.528926},
                 {0.3, 0.03114492356, 854.6369869},
                 {5, 0.0003091964365, 1.254442922}});
}

TEST(LinearSpectrum, of_no_baryons_is_the_limit_of_few) {
  // Baryons change it in proportion to their share, 1e-6 of the matter here, times factors of about 5.
  const Transfer none({.omega_baryon = 0}), few({.omega_baryon = 3e-7});
  for (const double k : {1e-3, 0.03, 1.0}) EXPECT_NEAR(few(k) / none(k), 1, 2e-5) << k;
  EXPECT_EQ(none(0), 1);
}

std::string table_of(const LinearSpectrum& spectrum, double first, double last, int points) {
  std::string text = "# k (h/Mpc)   P (Mpc/h)^3\n";
  for (int i = 0; i < points; ++i) {
    const double k = first * std::pow(last / first, static_cast<double>(i) / (points - 1));
    text += fmt::format("  {:.10e} {:.10e}  0.5\n", k, 3 * spectrum(k));
  }
  return text;
}

TEST(LinearSpectrum, of_a_table_is_interpolated_and_scaled) {
  SpectrumParameters p;
  p.kind = SpectrumKind::smooth;
  const LinearSpectrum fit(omega_matter, p);
  p.kind = SpectrumKind::table;
  p.table = spectrum_table(table_of(fit, 1e-4, 100, 300), "planck.txt");
  const LinearSpectrum table(omega_matter, p);
  // Steps of 0.046 in ln k, in which ln P bends by 1 in a unit of 1 at most: piecewise cubics of slopes to
  // second order err by the step cubed over 24 = 4e-6, and the part of sigma8 outside of the table is below
  // that.
  for (const double k : {2e-4, 0.0123, 0.2, 7.7, 99.0}) EXPECT_NEAR(table(k) / fit(k), 1, 1e-5) << k;
  p.sigma8 = 0;
  EXPECT_NEAR(LinearSpectrum(omega_matter, p)(0.2) / fit(0.2), 3, 3e-5) << "as it stands";
  EXPECT_NO_THROW(table(1e-4));
  EXPECT_THROW(table(0.9e-4), InputError);
  EXPECT_THROW(table(101), InputError);
}

TEST(LinearSpectrum, says_what_is_wrong) {
  const auto expect_message = [](const std::string& part, auto&& make) {
    try {
      make();
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const auto read = [](const char* text) { return spectrum_table(text, "p.txt"); };
  expect_message("p.txt, line 3: has no two numbers", [&] { read("# k\n1 2\n3\n"); });
  expect_message("p.txt, line 1: k = -1 and P = 2 must be positive", [&] { read("-1 2\n"); });
  expect_message("p.txt, line 3: k = 1 is not above that of the line before, 1",
                 [&] { read("1 2\n\n1 2\n"); });
  expect_message("p.txt: has 3 points", [&] { read("1 2\n2 3\n4 4\n"); });
  SpectrumParameters p;
  p.omega_baryon = 0.3;
  expect_message("omega_baryon = 0.3 must be", [&] { LinearSpectrum(omega_matter, p); });
  p = {};
  p.sigma8 = 0;
  expect_message("sigma8 = 0 must be positive", [&] { LinearSpectrum(omega_matter, p); });
  p.kind = SpectrumKind::table;
  p.table = {{0.1, 0.2, 0.3, 1}, {1, 1, 1, 1}};
  EXPECT_NO_THROW(LinearSpectrum(omega_matter, p));
  p.sigma8 = 0.8;
  expect_message("from k = 0.1 to 1 h/Mpc is too short for sigma8", [&] { LinearSpectrum(omega_matter, p); });
}

TEST(LinearSpectrum, grows_with_the_square_of_the_growth_factor) {
  // D1 = a in a universe of matter alone.
  EXPECT_NEAR(power_growth(Expansion({.hubble = 0.1}), 49) * 2500, 1, 1e-9);
}

}  // namespace
}  // namespace grove
