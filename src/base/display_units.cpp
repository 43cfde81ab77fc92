#include "base/display_units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Close enough to be the same unit, written with other digits.
bool is_same_size(double a, double b) { return std::abs(a / b - 1) < 1e-12; }

/// The unit among these whose size is nearest, by its ratio.
std::string nearest(double cgs, std::initializer_list<const char*> names) {
  std::string best;
  double least = INFINITY;
  for (const char* name : names)
    if (const double ratio = std::abs(std::log(named_unit(name)->cgs / cgs)); ratio < least)
      least = ratio, best = name;
  return best;
}

/// The name of a unit that a value can be given in; empty: it has none.
std::string own_name(const Units& units, const Dimension& dimension) {
  const std::string name = units.name(dimension);
  return named_unit(name) ? name : "";
}

/// Multiplied by itself so often: "kpc", "kpc^2".
std::string power(const std::string& name, int exponent) {
  if (exponent == 1) return name;
  const bool is_quotient = name.find('/') != std::string::npos;
  return fmt::format("{}^{}", is_quotient ? "(" + name + ")" : name, exponent);
}

/// Exponents of the units of length, mass, velocity and time. A time by itself, or to a power, has its own
/// unit; beside others it is a length over a velocity.
std::array<int, 4> exponents(const Dimension& d) {
  if (d.length == 0 && d.mass == 0 && d.time > 0) return {0, 0, 0, d.time};
  return {d.length + d.time, d.mass, -d.time, 0};
}

}  // namespace

DisplayUnits::DisplayUnits(const Units& units, const UnitNames& wanted) {
  if (units.is_dimensionless()) return;
  const auto choose = [&](const std::string& name, const Dimension& dimension,
                          std::initializer_list<const char*> usual) {
    std::string chosen = name.empty() ? own_name(units, dimension) : name;
    if (chosen.empty()) chosen = nearest(units.cgs(dimension), usual);
    const auto unit = named_unit(chosen);
    if (!unit || unit->dimension != dimension)
      throw InputError(fmt::format("'{}' is not a unit that values can be shown in here", chosen));
    const double size = units.cgs(dimension);
    return Base{chosen, is_same_size(size, unit->cgs) ? 1 : size / unit->cgs};
  };
  base_ = {choose(wanted.length, dimension::length, {"pc", "kpc", "Mpc"}),
           choose(wanted.mass, dimension::mass, {"Msun"}),
           choose(wanted.velocity, dimension::velocity, {"km/s"}),
           choose(wanted.time, dimension::time, {"yr", "kyr", "Myr", "Gyr"})};
}

std::string DisplayUnits::name(const Dimension& dimension) const {
  if (base_[0].name.empty()) return "";
  const std::array<int, 4> exponent = exponents(dimension);
  std::string over, under;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}, std::size_t{2},
                              std::size_t{3}}) {  // masses first, as in "Msun kpc km/s"
    if (exponent[i] > 0)
      over += fmt::format("{}{}", over.empty() ? "" : " ", power(base_[i].name, exponent[i]));
    if (exponent[i] < 0) under += fmt::format("/{}", power(base_[i].name, -exponent[i]));
  }
  return fmt::format("{}{}", over.empty() && !under.empty() ? "1" : over, under);
}

double DisplayUnits::factor(const Dimension& dimension) const {
  const std::array<int, 4> exponent = exponents(dimension);
  double factor = 1;
  for (std::size_t i = 0; i < base_.size(); ++i) factor *= std::pow(base_[i].factor, exponent[i]);
  return factor;
}

std::string DisplayUnits::text(double value, const Dimension& dimension, int digits) const {
  const std::string unit = name(dimension);
  return fmt::format("{:.{}g}{}{}", shown(value, dimension), digits, unit.empty() ? "" : " ", unit);
}

std::string DisplayUnits::text(const Vec3d& value, const Dimension& dimension, int digits) const {
  const std::string unit = name(dimension);
  const Vec3d v = factor(dimension) * value;
  return fmt::format("({:.{}g}, {:.{}g}, {:.{}g}){}{}", v.x, digits, v.y, digits, v.z, digits,
                     unit.empty() ? "" : " ", unit);
}

std::string DisplayUnits::heading(std::string_view column, const Dimension& dimension) const {
  const std::string unit = name(dimension);
  return unit.empty() ? std::string(column) : fmt::format("{} [{}]", column, unit);
}

}  // namespace grove
