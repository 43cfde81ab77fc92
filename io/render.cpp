#include "io/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "io/render_colours.hpp"
#include "io/render_font.hpp"
#include "io/render_map.hpp"
#include "io/render_png.hpp"

namespace grove {
namespace {

/// Of the bright end to the dark end: four decades of column density, three quarters of what a sparse disk
/// and its centre span.
constexpr double contrast = 1e4;

/// From the density that one pixel in 2000 exceeds, down by the contrast.
std::array<double, 2> choose_range(std::vector<double> densities) {
  const std::size_t rank = densities.size() - 1 - densities.size() / 2000;
  std::nth_element(densities.begin(), densities.begin() + static_cast<std::ptrdiff_t>(rank), densities.end());
  const double bright = densities[rank] > 0 ? densities[rank] : 1.0;
  return {bright / contrast, bright};
}

/// A number between 0 and 1 that differs from pixel to pixel without a pattern.
double scatter(std::uint32_t i) {
  i = (i ^ 61u) ^ (i >> 16);
  i *= 9u;
  i = (i ^ (i >> 4)) * 0x27d4eb2du;
  return static_cast<double>(i ^ (i >> 15)) * 0x1p-32;
}

/// The largest 1, 2 or 5 times a power of ten that is not above.
double round_down(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length)));
  for (const double digit : {5.0, 2.0})
    if (digit * power <= length) return digit * power;
  return power;
}

std::string time_label(double time, const Units& units) {
  if (units.is_dimensionless()) return fmt::format("t = {:.4g}", time);
  constexpr double year = 3.15576e7;
  const double years = time * units.cgs(dimension::time) / year;
  const double size = std::abs(years);
  if (size >= 1e9) return fmt::format("t = {:.2f} Gyr", years / 1e9);
  if (size >= 1e6 || size == 0) return fmt::format("t = {:.0f} Myr", years / 1e6);
  if (size >= 1e3) return fmt::format("t = {:.0f} kyr", years / 1e3);
  return fmt::format("t = {:.0f} yr", years);
}

std::string length_label(double length, const Units& units) {
  if (units.is_dimensionless()) return fmt::format("{:g}", length);
  return fmt::format("{:g} {}", length, units.name(dimension::length));
}

/// A picture under construction: colours between 0 and 1.
class Canvas {
 public:
  explicit Canvas(int side)
      : side_(side), colours_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)) {}

  Colour& at(int column, int row) {
    return colours_[static_cast<std::size_t>(row) * static_cast<std::size_t>(side_) +
                    static_cast<std::size_t>(column)];
  }

  /// Mixes a colour in.
  void blend(int column, int row, const Colour& colour, double share) {
    if (column < 0 || row < 0 || column >= side_ || row >= side_) return;
    Colour& target = at(column, row);
    for (std::size_t k = 0; k < 3; ++k) target[k] += share * (colour[k] - target[k]);
  }

  /// White, with a dark shadow that sets it off from a bright background.
  void text(const std::string& text, double scale, double x, double y) {
    const int columns = static_cast<int>(text_width(text, scale)) + 2, rows = static_cast<int>(9 * scale) + 2;
    const auto print = [&](const Colour& colour, int shift) {
      for (int row = -1; row < rows; ++row)
        for (int column = -1; column < columns; ++column)
          blend(static_cast<int>(x) + column + shift, static_cast<int>(y) + row + shift, colour,
                0.9 * text_coverage(text, scale, column + 0.5, row + 0.5));
    };
    print(shadow_, std::max(1, static_cast<int>(0.5 * scale)));
    print(ink_, 0);
  }

  void bar(int x, int y, int width, int height) {
    const auto fill = [&](const Colour& colour, int shift) {
      for (int row = y; row < y + height; ++row)
        for (int column = x; column < x + width; ++column) blend(column + shift, row + shift, colour, 0.9);
    };
    fill(shadow_, std::max(1, height / 2));
    fill(ink_, 0);
  }

  /// To eight bits; the fraction that is lost is made up for by chance, so that slow gradients show no bands.
  RgbImage image() const {
    RgbImage result{side_, side_, {}};
    std::uint32_t i = 0;
    for (const Colour& colour : colours_)
      for (const double c : colour)
        result.bytes.push_back(static_cast<std::uint8_t>(std::clamp(c * 255 + scatter(i++), 0.0, 255.0)));
    return result;
  }

 private:
  static constexpr Colour ink_ = {1, 1, 1}, shadow_ = {0, 0, 0};
  int side_;
  std::vector<Colour> colours_;
};

RgbImage draw(const std::vector<double>& densities, const View& view) {
  Canvas canvas(view.pixels);
  const auto [dark, bright] = *view.range;
  const double scale = 1 / std::log(bright / dark);
  for (int row = 0; row < view.pixels; ++row)
    for (int column = 0; column < view.pixels; ++column) {
      const double density =
          densities[static_cast<std::size_t>(view.pixels - 1 - row) * static_cast<std::size_t>(view.pixels) +
                    static_cast<std::size_t>(column)];
      canvas.at(column, row) = colour_of(std::log(std::max(density, dark) / dark) * scale);
    }

  // Labels grow with the picture.
  const double unit = std::max(view.pixels / 800.0, 0.25), letter = 3 * unit;
  const int margin = static_cast<int>(28 * unit);
  const double length = round_down(0.25 * *view.width);
  const int bar = static_cast<int>(std::lround(length / *view.width * view.pixels));
  const int thickness = std::max(1, static_cast<int>(std::lround(3 * unit)));
  canvas.bar(margin, view.pixels - margin - thickness, bar, thickness);
  const std::string label = length_label(length, view.units);
  canvas.text(label, letter, margin + 0.5 * (bar - text_width(label, letter)),
              view.pixels - margin - thickness - 11 * letter);
  canvas.text(time_label(view.time, view.units), letter, margin, margin);
  return canvas.image();
}

void check(const View& view) {
  if (view.pixels < 16 || view.pixels > 4096)
    throw InputError(fmt::format("a picture of {} pixels cannot be made: 16 to 4096", view.pixels));
  if (view.axis < 0 || view.axis > 2) throw InputError("the line of sight must be axis 0, 1 or 2");
  if (view.width && !(*view.width > 0 && std::isfinite(*view.width)))
    throw InputError(fmt::format("the width of the picture is {:g}: it must be positive", *view.width));
}

}  // namespace

View render_png(const Communicator& comm, const Particles& particles, const View& view,
                const std::string& path) {
  comm.together([&] { check(view); });
  View fitted = fit_view(comm, particles, view);
  const PixelMap map = deposit(comm, particles, fitted);
  std::array<double, 2> range{};
  comm.together([&] {
    if (!comm.is_master()) return;
    std::vector<double> densities = smooth(map);
    const double pixel = *fitted.width / fitted.pixels;
    for (double& d : densities) d /= pixel * pixel;
    if (!fitted.range) fitted.range = choose_range(densities);
    range = *fitted.range;
    write_png(draw(densities, fitted), path);
  });
  fitted.range = comm.broadcast(range);
  return fitted;
}

}  // namespace grove
