#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>

#include "base/box.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
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

TEST(Box, coordinates_are_monotone_and_name_the_cell_that_holds_the_point) {
  const Box box = Box::around({-1, -1, -1}, {1, 1, 1});
  const double unit = box.edge / 4294967296.0;
  Coordinate last = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double x = -1 + 2e-3 * i;
    const Coordinate c = box.coordinates({x, 0, 0}).x;
    EXPECT_GE(c, last);
    last = c;
    EXPECT_LE(box.low.x + c * unit, x);
    EXPECT_GT(box.low.x + (c + 1.0) * unit, x);
  }
}

/// The middle of turned cells stays at 2^31, and lengths are halved.
Vec3d from_middle(const IntegerPosition& c) { return c.as<double>() - Vec3d{1, 1, 1} * 2147483648.0; }

TEST(Box, turned_cells_keep_lengths_and_angles) {
  const Vec3d points[] = {{1, 2, 3}, {-4, 0.5, 2}, {0, -3.5, -1}, {3.9, 3.9, -3.9}};
  for (std::uint32_t k = 1; k < 5; ++k) {
    Box box{{-4, -4, -4}, 8, CellAxes::turned(k)};
    const double half_unit = 8 / 4294967296.0 * 2;
    for (const Vec3d& p : points)
      for (const Vec3d& q : points) {
        const Vec3d a = from_middle(box.coordinates(p)) * half_unit;
        const Vec3d b = from_middle(box.coordinates(q)) * half_unit;
        // Each coordinate is off by one unit at most where it is found and by one where it is turned, and
        // lengths are at most 8.
        EXPECT_NEAR(dot(a, b), dot(p, q), 2 * 3 * 8 * 2 * half_unit) << k;
      }
    // Turned, not mirrored.
    const auto axis = [&](const Vec3d& p) { return from_middle(box.coordinates(p)); };
    EXPECT_GT(dot(cross(axis({1, 0, 0}), axis({0, 1, 0})), axis({0, 0, 1})), 0);
  }
}

TEST(Box, five_turns_average_out_what_has_the_symmetry_of_a_cube) {
  // x^4 + y^4 + z^4 is 3/5 on the mean over all directions, and 1 and 1/3 along the edges and the diagonals
  // of one cube.
  const Box whole{{-1, -1, -1}, 2, {}};
  for (const Vec3d& p : {Vec3d{1, 0, 0}, Vec3d{0.6, 0.8, 0}, Vec3d{0.48, 0.6, 0.64}}) {
    double mean = 0;
    for (std::uint32_t k = 0; k < 5; ++k) {
      Box box = whole;
      box.axes = CellAxes::turned(k);
      const Vec3d c = from_middle(box.coordinates(p)) * ((k == 0 ? 1 : 2) / 2147483648.0);
      mean += (c.x * c.x * c.x * c.x + c.y * c.y * c.y * c.y + c.z * c.z * c.z * c.z) / 5;
    }
    EXPECT_NEAR(mean, 0.6, 12 * 4 / 4294967296.0);  // each term: 4 roundings of at most a unit
  }
  EXPECT_EQ(CellAxes::turned(5), CellAxes());
  EXPECT_EQ(CellAxes::turned(7), CellAxes::turned(2));
}

TEST(Box, shifted_cells_lie_elsewhere_for_each_number) {
  const Box whole{{-1, -1, -1}, 2, {}};
  const double unit = 2 / 4294967296.0;
  std::set<std::int64_t> shifts;
  for (std::uint32_t number = 0; number < 40; ++number) {
    const std::uint32_t k = number / 2;
    const bool turns = number % 2 != 0;
    Box turned = whole, shifted = whole;
    if (turns) turned.axes = CellAxes::turned(k);
    shifted.axes = CellAxes::shifted(k, turns);
    const bool is_halved = turns && k % 5 != 0;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t shift = shifted.axes.middle[axis] - CellAxes::one;
      EXPECT_LE(std::abs(shift), 3LL << 27);
      shifts.insert(shift);
      // Corners lie where they do without the shift, but for rounding: no coordinate runs over.
      for (int corner = 0; corner < 8; ++corner) {
        const auto side = [&](int k_axis) { return corner >> k_axis & 1 ? 1 - unit : -1; };
        const Vec3d p{side(0), side(1), side(2)};
        const double from = from_middle(turned.coordinates(p))[axis] * (is_halved ? 1 : 0.5);
        EXPECT_NEAR(from_middle(shifted.coordinates(p))[axis], from + static_cast<double>(shift), 1) << k;
      }
    }
  }
  EXPECT_EQ(shifts.size(), 60u);
}

TEST(Box, of_one_point_contains_it) {
  for (const double x : {0.0, 1.0, -7e12, 3e-200}) {
    const Vec3d p{x, x, -x};
    EXPECT_TRUE(Box::around(p, p).contains(p)) << x;
  }
}

TEST(Box, periodic_ones_bring_places_into_themselves) {
  const Box box = Box::periodic(3);
  for (const double x : {0.0, 1.0, 2.999, 3.0, 3.5, -0.5, -1e-20, -3.0, 7.0, std::nextafter(3.0, 0.0)}) {
    const Vec3d inside = box.wrapped({x, -x, 1});
    EXPECT_TRUE(box.contains(inside)) << x;
    const double edges = (inside.x - x) / 3;
    EXPECT_NEAR(edges, std::round(edges), 1e-15) << x;
  }
  EXPECT_EQ(box.wrapped({3, -1e-20, 2}), (Vec3d{0, 0, 2}));
  EXPECT_TRUE(std::isnan(box.wrapped({std::numeric_limits<double>::quiet_NaN(), 0, 0}).x));
  EXPECT_EQ(box.outside({1, 3.25, -0.5}), 0.5);
  EXPECT_LT(box.outside({1, 2, 0.5}), 0);
}

TEST(Images, are_all_that_touch_the_box_and_tell_the_nearest) {
  EXPECT_EQ(Images{}.count(), 1);
  const Images images{2};
  std::set<std::array<double, 3>> shifts;
  for (int n = 0; n < images.count(); ++n) {
    const Vec3d shift = images.shift(n);
    for (int axis = 0; axis < 3; ++axis) EXPECT_TRUE(shift[axis] == 0 || std::abs(shift[axis]) == 2);
    shifts.insert({shift.x, shift.y, shift.z});
  }
  EXPECT_EQ(shifts.size(), 27u);
  EXPECT_EQ(images.shift(0), (Vec3d{0, 0, 0}));
  EXPECT_DOUBLE_EQ(images.outside(0.25, 0.5, 1.75, 0), 0.5);  // the one at -0.25
  EXPECT_EQ(images.outside(0.25, 0.5, 0.375, 0), 0);
  EXPECT_DOUBLE_EQ(Images{}.outside(0.25, 0.5, 1.75, 0), 1.25);
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

TEST(Units, parse_tells_fractions_in_decimals) {
  const auto refusal = [](const char* text, const Dimension& dimension) -> std::string {
    try {
      Units::galactic().parse(text, dimension);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(refusal("5/3", dimension::none),
            "'5/3' is a fraction; numbers are given in decimals, as 1.6666667");
  EXPECT_EQ(refusal("1 / 8 kpc", dimension::length),
            "'1 / 8 kpc' is a fraction; numbers are given in decimals, as 0.125 kpc");
  for (const char* text : {"1,5", "1/0", "1/", "2*3", "1/kpc"})
    EXPECT_EQ(refusal(text, dimension::length),
              std::string("'") + text + "' is not a number with an optional unit");
  const std::string lengths = "; possible here: cm, m, km, au, pc, kpc, Mpc, Gpc";
  for (const auto& [text, unit] : {std::pair{"1 pcs", "pcs"}, std::pair{"16 (kpc/s)^2", "(kpc/s)^2"},
                                   std::pair{"3 1e10 Msun", "1e10 Msun"}, std::pair{"10 [kpc]", "[kpc]"},
                                   std::pair{"10[kpc]", "[kpc]"}, std::pair{"2 \u00b5m", "\u00b5m"}})
    EXPECT_EQ(refusal(text, dimension::length),
              std::string("'") + text + "' has an unknown unit '" + unit + "'" + lengths);
}

TEST(HowMany, has_a_singular) {
  EXPECT_EQ(how_many(0, "particle"), "0 particles");
  EXPECT_EQ(how_many(std::int64_t{1}, "particle"), "1 particle");
  EXPECT_EQ(how_many(11, "particle"), "11 particles");
  EXPECT_EQ(how_many(1, "leaf", "leaves"), "1 leaf");
  EXPECT_EQ(how_many(std::size_t{2}, "leaf", "leaves"), "2 leaves");
  EXPECT_EQ(how_many(1.0, "step"), "1 step");
  EXPECT_EQ(how_many(1e15, "step"), "1000000000000000 steps");
}

}  // namespace
}  // namespace grove
