#include "structure/power_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace grove {

SpectrumUnit SpectrumUnit::of_h(double length) { return {length, "k [h/Mpc]", "power [(Mpc/h)^3]"}; }

SpectrumUnit SpectrumUnit::of(const DisplayUnits& shown) {
  const auto heading = [&](const char* column, int power) {
    return shown.heading(column, Dimension{power, 0, 0});
  };
  return {shown.factor(dimension::length), heading("k", -1), heading("power", 3)};
}

int usual_mesh(Count particles) {
  const double edge = 2 * std::cbrt(static_cast<double>(particles));
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::clamp(std::ceil(edge), 16.0, 1024.0))));
}

double bytes_of_mesh(int mesh) { return 30 * std::pow(mesh, 3); }

std::string power_table(const std::vector<PowerBin>& bins, const SpectrumUnit& unit,
                        bool subtract_shot_noise) {
  const double cube = std::pow(unit.factor, 3);
  std::string text = fmt::format("{},modes,{},shot noise,error\n", unit.wavenumber, unit.power);
  for (const PowerBin& bin : bins)
    text += fmt::format("{:.9g},{},{:.9g},{:.9g},{:.4g}\n", bin.wavenumber / unit.factor, bin.modes,
                        (bin.power - (subtract_shot_noise ? bin.shot_noise : 0)) * cube,
                        bin.shot_noise * cube, bin.error() * cube);
  return text;
}

}  // namespace grove
