#include "io/dataset_unit.hpp"

#include <fmt/format.h>

namespace grove {
namespace {

/// As pynbody reads it: no name twice, and behind each power a blank.
std::string product_of_units(int length, int mass, int velocity) {
  std::string text;
  const auto add = [&](const char* name, int power) {
    if (power != 0) text += fmt::format("{}^{} ", name, power);
  };
  add("U_M", mass);
  add("U_L", length);
  add("U_V", velocity);
  return text.empty() ? "a number" : text;
}

}  // namespace

void write_unit_of(hid_t dataset, const Dimension& dimension, const Units& units, double a_power,
                   double h_power, const std::string& path) {
  const auto attribute = [&](const char* name, const auto& value) {
    hdf5::write_attribute(dataset, name, value, path);
  };
  const int length = dimension.length + dimension.time,
            velocity = -dimension.time;  // time = length / velocity
  attribute("a_scaling", a_power);
  attribute("h_scaling", h_power);
  attribute("length_scaling", static_cast<double>(length));
  attribute("mass_scaling", static_cast<double>(dimension.mass));
  attribute("velocity_scaling", static_cast<double>(velocity));
  attribute("to_cgs", units.cgs(dimension));
  attribute("aexp-scale-exponent", a_power);
  attribute("h-scale-exponent", h_power);
  attribute("CGSConversionFactor", units.cgs(dimension));
  attribute("VarDescription", product_of_units(length, dimension.mass, velocity));
}

}  // namespace grove
