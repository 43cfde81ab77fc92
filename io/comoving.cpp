#include "io/comoving.hpp"

#include <cmath>

namespace grove {

ComovingScale ComovingScale::of(const Dimension& dimension, const ComovingTime& time) {
  if (dimension == dimension::length) return {time.h, 1, -1};
  if (dimension == dimension::mass) return {time.h, 0, -1};
  if (dimension == dimension::velocity) return {1 / momentum_over_gadget(time.scale_factor), 0.5, 0};
  if (dimension == dimension::acceleration) return {1, -2, 0};
  if (dimension == dimension::potential) return {1, -1, 0};
  return {};
}

double momentum_over_gadget(double scale_factor) { return scale_factor * std::sqrt(scale_factor); }
double momentum_over_swift(double scale_factor) { return scale_factor; }

Units over_h(const Units& units, double h) {
  return Units::of(units.length_cm / h, units.mass_g / h, units.velocity_cm_s);
}

}  // namespace grove
