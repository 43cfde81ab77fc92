#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "base/vec3.hpp"

namespace grove {

/// Names of the four units that all others are made of, as Units::parse() knows them.
struct UnitNames {
  std::string length{}, mass{}, velocity{}, time{};
  friend bool operator==(const UnitNames&, const UnitNames&) = default;
};

/// The units that values are shown in, on the console, in tables and messages: those that the user wrote,
/// else the field's own. Values are kept in the units of a run or of a file; here is what to multiply them
/// by, and what the product is called.
///
/// Four units make all others: of length, mass, velocity and time. An energy is in "Msun (km/s)^2", an
/// angular momentum in "Msun kpc km/s", a density in "Msun/kpc^3". Dimensionless units (G = 1) have no names
/// and factors of 1.
class DisplayUnits {
 public:
  DisplayUnits() : DisplayUnits(Units::galactic()) {}
  /// wanted: what the user wrote. Where it is empty: the unit of `units` if it has a name of its own, as kpc
  /// and km/s have in Units::galactic(); else solar masses, km/s, and that of pc, kpc and Mpc, or of yr, kyr,
  /// Myr and Gyr, which is nearest in size, so Gyr there. InputError: a name that is no unit of that kind.
  explicit DisplayUnits(const Units& units, const UnitNames& wanted = {});
  /// Those of bare numbers.
  static DisplayUnits none() { return DisplayUnits(Units::dimensionless()); }

  /// "Gyr", "Msun (km/s)^2"; empty: the value is a bare number.
  std::string name(const Dimension& dimension) const;
  /// Multiplies a value in the run's units to show it.
  double factor(const Dimension& dimension) const;
  double shown(double value, const Dimension& dimension) const { return value * factor(dimension); }
  /// "1.25 Gyr", "0.5"; with so many significant digits at most. value: in the run's units.
  std::string text(double value, const Dimension& dimension, int digits = 6) const;
  /// "(1, 0.5, 2) kpc".
  std::string text(const Vec3d& value, const Dimension& dimension, int digits = 6) const;
  /// A table's heading: "time [Gyr]", "time" where values are bare numbers.
  std::string heading(std::string_view column, const Dimension& dimension) const;

  /// The four names; all empty with dimensionless units.
  UnitNames names() const { return {base_[0].name, base_[1].name, base_[2].name, base_[3].name}; }

 private:
  struct Base {
    std::string name;
    double factor = 1;
  };
  std::array<Base, 4> base_;  ///< of length, mass, velocity, time
};

}  // namespace grove
