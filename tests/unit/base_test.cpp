#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/box.hpp"
#include "base/errors.hpp"
#include "base/units.hpp"

namespace grove {
namespace {

TEST(Box, holds_the_bounds_and_is_a_power_of_two) {
  const Vec3d low{-3.7, 12.0, 0.001}, high{5.1, 13.0, 0.002};
  const Box box = Box::around(low, high);
  EXPECT_TRUE(box.contains(low));
  EXPECT_TRUE(box.contains(high));
  EXPECT_EQ(std::exp2(std::log2(box.edge)), box.edge);
  EXPECT_LE(box.edge, 4 * 8.8) << "a larger cube wastes integer bits";
}

TEST(Box, coordinates_are_monotone_and_invert_to_the_cell_that_holds_the_point) {
  const Box box = Box::around({-1, -1, -1}, {1, 1, 1});
  Coordinate last = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double x = -1 + 2e-3 * i;
    const IntegerPosition c = box.coordinates({x, 0, 0});
    EXPECT_GE(c.x, last);
    last = c.x;
    EXPECT_LE(box.position(c).x, x);
    EXPECT_GT(box.position(c).x + box.unit(), x);
  }
}

TEST(Box, of_one_point_contains_it) {
  for (const double x : {0.0, 1.0, -7e12, 3e-200}) {
    const Vec3d p{x, x, -x};
    EXPECT_TRUE(Box::around(p, p).contains(p)) << x;
  }
}

TEST(Box, refuses_what_is_not_finite_or_too_large) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Box::around({nan, 0, 0}, {1, 1, 1}), InputError);
  EXPECT_THROW(Box::around({0, 0, 0}, {1, 1, 1e300}), InputError);
}

TEST(Units, galactic_newton_constant_is_gadgets) {
  // GADGET-2's users' guide quotes 43007.1 for kpc, 1e10 Msun, km/s with G = 6.672e-8; scaled to G
  // = 6.6743e-8. The last digit quoted stands for 0.05.
  EXPECT_NEAR(Units::galactic().gravitational_constant, 43007.1 * 6.6743 / 6.672, 0.05);
}

TEST(Units, parse_converts_into_run_units) {
  const Units units = Units::galactic();
  EXPECT_DOUBLE_EQ(units.parse("16 pc", dimension::length), 0.016);
  EXPECT_DOUBLE_EQ(units.parse("0.5", dimension::length), 0.5);
  EXPECT_DOUBLE_EQ(units.parse("1e12 Msun", dimension::mass), 100);
  EXPECT_DOUBLE_EQ(units.parse("1 Gyr", dimension::time), 3.15576e16 / (3.085678e21 / 1e5));
}

TEST(Units, parse_refuses_what_it_cannot_convert) {
  const Units units = Units::galactic();
  EXPECT_THROW(units.parse("fast", dimension::velocity), InputError);
  EXPECT_THROW(units.parse("16 pc", dimension::mass), InputError);
  EXPECT_THROW(units.parse("16 furlong", dimension::length), InputError);
  EXPECT_THROW(Units::dimensionless().parse("16 pc", dimension::length), InputError);
}

}  // namespace
}  // namespace grove
