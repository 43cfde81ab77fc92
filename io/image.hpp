#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/font.hpp"
#include "io/render_colours.hpp"

namespace grove {

/// An image of at most 256 colours: those of densities, from dark to bright, then greys from black to white.
/// Row 0 is on top; it begins white.
class Image {
 public:
  static constexpr int densities = 224, greys = 32;
  static constexpr std::uint8_t black = densities, white = densities + greys - 1;

  Image(int image_width, int image_height);

  int width, height;
  std::vector<std::uint8_t> colours;  ///< length width height

  std::uint8_t& at(int column, int row) {
    return colours[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(column)];
  }
  /// Pixels outside are left out, here and below.
  void fill(int left, int top, int columns, int rows, std::uint8_t colour);

  /// Prints black on white with the upper left corner there; `upwards`: turned to the left, with the lower
  /// left corner there.
  void print(const TextImage& text, int left, int top);
  void print_upwards(const TextImage& text, int left, int bottom);

 private:
  void ink(int column, int row, std::uint8_t coverage);
};

/// Writes a PNG file of 8 bits per pixel, complete or not at all. InputError if the file cannot be written.
void write_png(const Image& image, const std::string& path);

}  // namespace grove
