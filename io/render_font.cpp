#include "io/render_font.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace grove {
namespace {

/// Seven rows above the base line and two below, from the top; the highest of five bits is the left pixel.
struct Glyph {
  char character;
  std::array<std::uint8_t, 9> rows;
};

// clang-format off
constexpr std::array glyphs = {
    Glyph{'0', {0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000}},
    Glyph{'2', {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111, 0b00000, 0b00000}},
    Glyph{'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010, 0b00000, 0b00000}},
    Glyph{'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'7', {0b11111, 0b00001, 0b00010, 0b00010, 0b00100, 0b00100, 0b00100, 0b00000, 0b00000}},
    Glyph{'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100, 0b00000, 0b00000}},
    Glyph{'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100, 0b00000, 0b00000}},
    Glyph{'-', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000}},
    Glyph{'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000, 0b00000, 0b00000}},
    Glyph{'=', {0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000, 0b00000}},
    Glyph{'/', {0b00001, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b10000, 0b00000, 0b00000}},
    Glyph{'a', {0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111, 0b00000, 0b00000}},
    Glyph{'b', {0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b00000, 0b00000}},
    Glyph{'c', {0b00000, 0b00000, 0b01110, 0b10001, 0b10000, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'d', {0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00000, 0b00000}},
    Glyph{'e', {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110, 0b00000, 0b00000}},
    Glyph{'f', {0b00110, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000, 0b00000, 0b00000}},
    Glyph{'g', {0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110}},
    Glyph{'h', {0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b00000, 0b00000}},
    Glyph{'i', {0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000}},
    Glyph{'j', {0b00010, 0b00000, 0b00110, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100}},
    Glyph{'k', {0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b00000, 0b00000}},
    Glyph{'l', {0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000}},
    Glyph{'m', {0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101, 0b00000, 0b00000}},
    Glyph{'n', {0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b00000, 0b00000}},
    Glyph{'o', {0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'p', {0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000}},
    Glyph{'q', {0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001}},
    Glyph{'r', {0b00000, 0b00000, 0b10110, 0b11000, 0b10000, 0b10000, 0b10000, 0b00000, 0b00000}},
    Glyph{'s', {0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110, 0b00000, 0b00000}},
    Glyph{'t', {0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b00110, 0b00000, 0b00000}},
    Glyph{'u', {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00000, 0b00000}},
    Glyph{'v', {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100, 0b00000, 0b00000}},
    Glyph{'w', {0b00000, 0b00000, 0b10101, 0b10101, 0b10101, 0b10101, 0b01010, 0b00000, 0b00000}},
    Glyph{'x', {0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b00000, 0b00000}},
    Glyph{'y', {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110}},
    Glyph{'z', {0b00000, 0b00000, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111, 0b00000, 0b00000}},
    Glyph{'G', {0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000}},
    Glyph{'M', {0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001, 0b00000, 0b00000}},
};
// clang-format on

constexpr int columns = 5, rows = 9, advance = 6;

/// 1 where the character has ink, 0 elsewhere and outside its cell.
double ink(char character, int column, int row) {
  if (column < 0 || column >= columns || row < 0 || row >= rows) return 0;
  for (const Glyph& glyph : glyphs)
    if (glyph.character == character)
      return glyph.rows[static_cast<std::size_t>(row)] >> (columns - 1 - column) & 1;
  return 0;
}

}  // namespace

double text_width(const std::string& text, double scale) {
  return text.empty() ? 0 : (static_cast<double>(text.size()) * advance - 1) * scale;
}

double text_coverage(const std::string& text, double scale, double x, double y) {
  // Bilinear interpolation of the bitmap, cut at half its height, rounds the corners of enlarged pixels.
  const double u = x / scale - 0.5, v = y / scale - 0.5;
  if (u < -1 || v < -1 || v > rows) return 0;
  const int column = static_cast<int>(std::floor(u)), row = static_cast<int>(std::floor(v));
  const auto at = [&](int c, int r) {
    const int index = c >= 0 ? c / advance : -1;
    if (index < 0 || index >= static_cast<int>(text.size())) return 0.0;
    return ink(text[static_cast<std::size_t>(index)], c % advance, r);
  };
  const double fu = u - column, fv = v - row;
  const double value = (1 - fv) * ((1 - fu) * at(column, row) + fu * at(column + 1, row)) +
                       fv * ((1 - fu) * at(column, row + 1) + fu * at(column + 1, row + 1));
  return std::clamp(0.5 + (value - 0.5) * scale, 0.0, 1.0);
}

}  // namespace grove
