#include "base/display_units.hpp"

#include <gtest/gtest.h>

#include "base/errors.hpp"

namespace grove {
namespace {

using Names = UnitNames;

TEST(DisplayUnits, galactic_values_are_shown_in_units_of_the_field) {
  const DisplayUnits shown(Units::galactic());
  EXPECT_EQ(shown.names(), (Names{"kpc", "Msun", "km/s", "Gyr"}));
  EXPECT_EQ(shown.factor(dimension::length), 1);
  EXPECT_EQ(shown.factor(dimension::velocity), 1);
  EXPECT_DOUBLE_EQ(shown.factor(dimension::mass), 1e10);
  EXPECT_DOUBLE_EQ(shown.factor(dimension::energy), 1e10);
  // kpc / (km/s) = 3.085678e16 s; a year has 3.15576e7.
  EXPECT_DOUBLE_EQ(shown.factor(dimension::time), 3.085678e16 / 3.15576e16);
  EXPECT_DOUBLE_EQ(shown.shown(3, dimension::angular_momentum), 3e10);
}

TEST(DisplayUnits, names_are_made_of_four) {
  const DisplayUnits shown(Units::galactic());
  EXPECT_EQ(shown.name(dimension::none), "");
  EXPECT_EQ(shown.name(dimension::time), "Gyr");
  EXPECT_EQ(shown.name(dimension::energy), "Msun (km/s)^2");
  EXPECT_EQ(shown.name(dimension::momentum), "Msun km/s");
  EXPECT_EQ(shown.name(dimension::angular_momentum), "Msun kpc km/s");
  EXPECT_EQ(shown.name(dimension::potential), "(km/s)^2");
  EXPECT_EQ(shown.name(dimension::acceleration), "(km/s)^2/kpc");
  EXPECT_EQ(shown.name(dimension::density), "Msun/kpc^3");
  EXPECT_EQ(shown.name(dimension::surface_density), "Msun/kpc^2");
  EXPECT_EQ(shown.name({-3, 0, 0}), "1/kpc^3");
}

TEST(DisplayUnits, follow_what_the_user_wrote) {
  const DisplayUnits shown(Units::galactic(), {.length = "pc", .velocity = "pc/Myr", .time = "Myr"});
  EXPECT_DOUBLE_EQ(shown.shown(0.016, dimension::length), 16);
  EXPECT_EQ(shown.text(0.016, dimension::length), "16 pc");
  EXPECT_EQ(shown.name(dimension::acceleration), "(pc/Myr)^2/pc");
  // In CGS, from factors of the four units: rounded a few times.
  const Units& run = Units::galactic();
  const double acceleration = shown.factor(dimension::acceleration) * 3.085678e18 / (3.15576e13 * 3.15576e13);
  EXPECT_NEAR(acceleration, run.cgs(dimension::acceleration), 1e-14 * acceleration);
  EXPECT_THROW(DisplayUnits(run, {.length = "Myr"}), InputError);
  EXPECT_THROW(DisplayUnits(run, {.mass = "stone"}), InputError);
}

TEST(DisplayUnits, sizes_without_a_name_become_the_nearest) {
  const DisplayUnits cluster(Units::of(3.3e18, 2e35, 1e5));
  EXPECT_EQ(cluster.names(), (Names{"pc", "Msun", "km/s", "Myr"}));
  EXPECT_EQ(DisplayUnits(Units::of(1, 1, 1)).names(), (Names{"cm", "g", "cm/s", "s"}));
}

TEST(DisplayUnits, dimensionless_values_are_bare) {
  const DisplayUnits shown(Units::dimensionless(), {.time = "Gyr"});
  EXPECT_EQ(shown.names(), Names{});
  EXPECT_EQ(shown.factor(dimension::energy), 1);
  EXPECT_EQ(shown.text(0.25, dimension::energy), "0.25");
  EXPECT_EQ(shown.heading("time", dimension::time), "time");
}

TEST(DisplayUnits, texts_and_headings_have_the_unit_behind_them) {
  const DisplayUnits shown(Units::galactic());
  EXPECT_EQ(shown.heading("time", dimension::time), "time [Gyr]");
  EXPECT_EQ(shown.heading("step", dimension::none), "step");
  EXPECT_EQ(shown.text(123.456789, dimension::velocity), "123.457 km/s");
  EXPECT_EQ(shown.text(123.456789, dimension::velocity, 2), "1.2e+02 km/s");
  EXPECT_EQ(shown.text(88, dimension::mass), "8.8e+11 Msun");
}

}  // namespace
}  // namespace grove
