#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/errors.hpp"

namespace grove {
namespace {

constexpr double newton_cgs = 6.6743e-8;
constexpr double parsec_cm = 3.085678e18;
constexpr double solar_mass_g = 1.989e33;
constexpr double year_s = 3.15576e7;

constexpr std::array named_units = {
    NamedUnit{"cm", dimension::length, 1},
    NamedUnit{"m", dimension::length, 1e2},
    NamedUnit{"km", dimension::length, 1e5},
    NamedUnit{"au", dimension::length, 1.495978707e13},
    NamedUnit{"pc", dimension::length, parsec_cm},
    NamedUnit{"kpc", dimension::length, 1e3 * parsec_cm},
    NamedUnit{"Mpc", dimension::length, 1e6 * parsec_cm},
    NamedUnit{"Gpc", dimension::length, 1e9 * parsec_cm},
    NamedUnit{"g", dimension::mass, 1},
    NamedUnit{"kg", dimension::mass, 1e3},
    NamedUnit{"Msun", dimension::mass, solar_mass_g},
    NamedUnit{"s", dimension::time, 1},
    NamedUnit{"min", dimension::time, 60},
    NamedUnit{"h", dimension::time, 3600},
    NamedUnit{"d", dimension::time, 86400},
    NamedUnit{"yr", dimension::time, year_s},
    NamedUnit{"kyr", dimension::time, 1e3 * year_s},
    NamedUnit{"Myr", dimension::time, 1e6 * year_s},
    NamedUnit{"Gyr", dimension::time, 1e9 * year_s},
    NamedUnit{"cm/s", dimension::velocity, 1},
    NamedUnit{"m/s", dimension::velocity, 1e2},
    NamedUnit{"km/s", dimension::velocity, 1e5},
    NamedUnit{"pc/Myr", dimension::velocity, parsec_cm / (1e6 * year_s)},
    NamedUnit{"cm/s^2", dimension::acceleration, 1},
    NamedUnit{"m/s^2", dimension::acceleration, 1e2},
    NamedUnit{"km/s/Myr", dimension::acceleration, 1e5 / (1e6 * year_s)},
    NamedUnit{"km^2/s^2/kpc", dimension::acceleration, 1e10 / (1e3 * parsec_cm)},
    NamedUnit{"pc/Myr^2", dimension::acceleration, parsec_cm / (1e12 * year_s * year_s)},
    NamedUnit{"(km/s)^2", dimension::potential, 1e10},
    NamedUnit{"km^2/s^2", dimension::potential, 1e10},
    NamedUnit{"m^2/s^2", dimension::potential, 1e4},
    NamedUnit{"erg/g", dimension::potential, 1},
    NamedUnit{"J/kg", dimension::potential, 1e4},
    NamedUnit{"g/cm^3", dimension::density, 1},
    NamedUnit{"Msun/pc^3", dimension::density, solar_mass_g / (parsec_cm * parsec_cm * parsec_cm)},
    NamedUnit{"Msun/kpc^3", dimension::density, 1e-9 * solar_mass_g / (parsec_cm * parsec_cm * parsec_cm)},
    NamedUnit{"Msun/Mpc^3", dimension::density, 1e-18 * solar_mass_g / (parsec_cm * parsec_cm * parsec_cm)},
    NamedUnit{"g/cm^2", dimension::surface_density, 1},
    NamedUnit{"Msun/pc^2", dimension::surface_density, solar_mass_g / (parsec_cm * parsec_cm)},
    NamedUnit{"Msun/kpc^2", dimension::surface_density, 1e-6 * solar_mass_g / (parsec_cm * parsec_cm)},
};

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

std::string names_of(const Dimension& dimension) {
  std::string names;
  for (const NamedUnit& unit : named_units)
    if (unit.dimension == dimension) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names.empty() ? "none" : names;
}

/// A number, and what stands behind it.
struct Value {
  double number = 0;
  std::string_view unit;
  bool is_apart = false;  ///< there is space between them

  /// "1,5", "2*3" and the like: units have brackets at most.
  bool is_malformed() const {
    const auto first = static_cast<unsigned char>(unit[0]);
    return !is_apart && std::ispunct(first) && first != '(' && first != '[';
  }
};

/// Unset: it is no finite number.
std::optional<Value> split(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const char* end = trimmed.data() + trimmed.size();
  Value value;
  const auto [rest, error] = std::from_chars(trimmed.data(), end, value.number);
  if (error != std::errc{} || !std::isfinite(value.number)) return std::nullopt;
  value.unit = trim({rest, static_cast<std::size_t>(end - rest)});
  value.is_apart = rest != end && value.unit.data() != rest;
  return value;
}

/// The decimals of "5/3"; empty: the value is no fraction.
std::string decimals_of_fraction(const Value& value) {
  if (!value.unit.starts_with('/')) return {};
  const std::optional<Value> under = split(value.unit.substr(1));
  if (!under || under->number == 0) return {};
  return fmt::format("{:.8g}{}{}", value.number / under->number, under->unit.empty() ? "" : " ", under->unit);
}

}  // namespace

std::optional<NamedUnit> named_unit(std::string_view name) {
  for (const NamedUnit& unit : named_units)
    if (unit.name == name) return unit;
  return std::nullopt;
}

std::optional<NamedUnit> unit_of_value(std::string_view text) {
  const std::optional<Value> value = split(text);
  return value ? named_unit(value->unit) : std::nullopt;
}

Units Units::of(double length_cm, double mass_g, double velocity_cm_s) {
  return {length_cm, mass_g, velocity_cm_s,
          newton_cgs * mass_g / (length_cm * velocity_cm_s * velocity_cm_s)};
}

Units Units::galactic() { return of(1e3 * parsec_cm, 1e10 * solar_mass_g, 1e5); }

Units Units::dimensionless() { return {1, 1, 1, 1}; }

double Units::cgs(const Dimension& d) const {
  // time = length / velocity
  return std::pow(length_cm, d.length + d.time) * std::pow(mass_g, d.mass) * std::pow(velocity_cm_s, -d.time);
}

double Units::parse(std::string_view text, const Dimension& dimension) const {
  const std::optional<Value> value = split(text);
  if (value && value->unit.empty()) return value->number;
  if (value)
    if (const std::string decimals = decimals_of_fraction(*value); !decimals.empty())
      throw InputError(
          fmt::format("'{}' is a fraction; numbers are given in decimals, as {}", text, decimals));
  if (!value || value->is_malformed())
    throw InputError(fmt::format("'{}' is not a number with an optional unit", text));
  const std::optional<NamedUnit> unit = named_unit(value->unit);
  if (!unit)
    throw InputError(fmt::format("'{}' has an unknown unit '{}'; possible here: {}", text, value->unit,
                                 names_of(dimension)));
  if (unit->dimension != dimension)
    throw InputError(
        fmt::format("'{}' has a unit of another kind; possible here: {}", text, names_of(dimension)));
  if (is_dimensionless())
    throw InputError(fmt::format(
        "'{}' has a unit, but units are dimensionless here (G = 1): give a bare number, or choose others "
        "(units.system, --units galactic)",
        text));
  return value->number * unit->cgs / cgs(dimension);
}

std::string Units::name(const Dimension& d) const {
  if (is_dimensionless()) return "1";
  const double size = cgs(d);
  const auto close = [size](double other) { return std::abs(size / other - 1) < 1e-6; };
  for (const NamedUnit& unit : named_units)
    if (unit.dimension == d && close(unit.cgs)) return std::string(unit.name);
  if (d == dimension::mass && close(1e10 * solar_mass_g)) return "1e10 Msun";
  if (d == dimension::time && close(3.0856775814913673e16)) return "kpc / (km/s)";
  return fmt::format("{:g} cgs", size);
}

}  // namespace grove
