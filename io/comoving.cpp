#include "io/comoving.hpp"

#include <cmath>

#include "particles/particles.hpp"

namespace grove {

ComovingScale ComovingScale::of(const FieldInfo& field, const ComovingTime& time) {
  const Dimension& dimension = field.dimension;
  const double power = time.energy_power, a = time.scale_factor, per_h2 = 1 / (time.h * time.h);
  if (field.name == fields::internal_energy.info.name) return {std::pow(a, -power), 0, 0};
  if (dimension == dimension::density) return {per_h2, -3, 2};
  if (dimension == dimension::pressure) return {per_h2, -3 - power, 2};
  if (dimension == dimension::heating) return {1, -1 - power, 0};
  if (dimension == dimension::frequency) return {1, -2, 0};
  if (dimension == dimension::length) return {time.h, 1, -1};
  if (dimension == dimension::mass) return {time.h, 0, -1};
  if (dimension == dimension::velocity) return {1 / momentum_over_gadget(time.scale_factor), 0.5, 0};
  if (dimension == dimension::acceleration) return {1, -2, 0};
  if (dimension == dimension::potential) return {1, -1, 0};
  return {};
}

double momentum_over_gadget(double scale_factor) { return scale_factor * std::sqrt(scale_factor); }
double momentum_over_swift(double scale_factor) { return scale_factor; }

double number_of_file(const std::string& text, const Dimension& dimension, const Units& units, double h) {
  const double value = units.parse(text, dimension);
  return unit_of_value(text) ? value * std::pow(h, dimension.length + dimension.mass) : value;
}

Units over_h(const Units& units, double h) {
  return Units::of(units.length_cm / h, units.mass_g / h, units.velocity_cm_s);
}

}  // namespace grove
