#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace grove {

/// The dimension of a value, as exponents of length, mass and time.
struct Dimension {
  int length = 0, mass = 0, time = 0;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

namespace dimension {
inline constexpr Dimension none{0, 0, 0};
inline constexpr Dimension length{1, 0, 0};
inline constexpr Dimension mass{0, 1, 0};
inline constexpr Dimension time{0, 0, 1};
inline constexpr Dimension velocity{1, 0, -1};
inline constexpr Dimension acceleration{1, 0, -2};
inline constexpr Dimension potential{2, 0, -2};
inline constexpr Dimension momentum{1, 1, -1};
inline constexpr Dimension angular_momentum{2, 1, -1};
inline constexpr Dimension energy{2, 1, -2};
inline constexpr Dimension density{-3, 1, 0};
inline constexpr Dimension surface_density{-2, 1, 0};
inline constexpr Dimension pressure{-1, 1, -2};
inline constexpr Dimension heating{2, 0, -3};  ///< of a mass
inline constexpr Dimension frequency{0, 0, -1};
}  // namespace dimension

/// A unit that values may be given in: "kpc", "Msun", "km/s".
struct NamedUnit {
  std::string_view name;
  Dimension dimension;
  double cgs;  ///< its size
};

/// The unit of this name; unset: there is none.
std::optional<NamedUnit> named_unit(std::string_view name);

/// The unit that a value, "16 pc", carries; unset: the text is a bare number, or no number with a known unit.
std::optional<NamedUnit> unit_of_value(std::string_view text);

/// The units of a run or of a file: their sizes in CGS, and Newton's constant in them.
///
/// `dimensionless()` are N-body units: all sizes 1 and G = 1, whatever they mean physically.
struct Units {
  double length_cm = 3.085678e21;     ///< centimetres; default 1 kpc
  double mass_g = 1.989e43;           ///< grams; default 1e10 solar masses
  double velocity_cm_s = 1e5;         ///< centimetres per second; default 1 km/s
  double gravitational_constant = 0;  ///< G in these units; filled by the functions below

  /// GADGET's: kpc, 1e10 solar masses, km/s.
  static Units galactic();
  /// All sizes 1, G = 1.
  static Units dimensionless();
  /// Given sizes in CGS; G follows from its measured value 6.6743e-8 cm^3 g^-1 s^-2 (CODATA 2018).
  static Units of(double length_cm, double mass_g, double velocity_cm_s);

  bool is_dimensionless() const { return *this == dimensionless(); }

  /// Size in CGS of the unit with this dimension.
  double cgs(const Dimension& dimension) const;

  /// Reads a number with an optional unit, "16 pc", "0.5", "1e12 Msun", "2 Gyr", "220 km/s", into these
  /// units. A bare number is in these units already. InputError: no number, unknown unit, a unit of another
  /// dimension, or a physical unit where these units are dimensionless.
  double parse(std::string_view text, const Dimension& dimension) const;

  /// "kpc", "1e10 Msun", "km/s" and so on where the size has such a name, else the size in CGS.
  std::string name(const Dimension& dimension) const;

  friend bool operator==(const Units&, const Units&) = default;
};

}  // namespace grove
