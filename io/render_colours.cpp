#include "io/render_colours.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace grove {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple product(const Matrix& m, const Triple& v) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return result;
}

/// The definition of OKLab: linear sRGB to cone responses, and their cube roots to lightness and opponents.
constexpr Matrix rgb_to_cones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                                  {0.2119034982, 0.6806995451, 0.1073969566},
                                  {0.0883024619, 0.2817188376, 0.6299787005}}};
constexpr Matrix roots_to_lab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                                  {1.9779984951, -2.4285922050, 0.4505937099},
                                  {0.0259040371, 0.7827717662, -0.8086757660}}};

Matrix inverse(const Matrix& m) {
  Matrix result{};
  double determinant = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      result[j][i] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
    }
    determinant += m[0][i] * (m[1][i1] * m[2][i2] - m[1][i2] * m[2][i1]);
  }
  for (Triple& row : result)
    for (double& element : row) element /= determinant;
  return result;
}

/// The transfer function of sRGB (IEC 61966-2-1).
double to_linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double from_linear(double c) { return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055; }

/// Linear sRGB of an OKLab colour; components outside 0..1 are not displayable.
Triple linear_rgb(double lightness, double chroma, double hue) {
  static const Matrix to_roots = inverse(roots_to_lab), to_rgb = inverse(rgb_to_cones);
  Triple cones = product(to_roots, {lightness, chroma * std::cos(hue), chroma * std::sin(hue)});
  for (double& c : cones) c = c * c * c;
  return product(to_rgb, cones);
}

bool is_displayable(const Triple& rgb) {
  return std::all_of(rgb.begin(), rgb.end(), [](double c) { return c >= -1e-9 && c <= 1 + 1e-9; });
}

}  // namespace

Colour colour_of(double value) {
  const double t = std::clamp(value, 0.0, 1.0);
  const double lightness = 0.08 + 0.90 * t;
  const double hue = (275 + 190 * t) * std::numbers::pi / 180;
  // Strong in the middle, fading to both ends, and never more than a screen can show.
  double chroma = 0.04 + 0.15 * std::sin(std::numbers::pi * t);
  while (!is_displayable(linear_rgb(lightness, chroma, hue)) && chroma > 0) chroma -= 0.0005;
  Colour colour = linear_rgb(lightness, std::max(chroma, 0.0), hue);
  for (double& c : colour) c = from_linear(std::clamp(c, 0.0, 1.0));
  return colour;
}

std::array<double, 3> oklab_of(const Colour& colour) {
  Triple cones = product(rgb_to_cones, {to_linear(colour[0]), to_linear(colour[1]), to_linear(colour[2])});
  for (double& c : cones) c = std::cbrt(c);
  return product(roots_to_lab, cones);
}

}  // namespace grove
