#include "io/image.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

/// Red, green, blue of all colours, one after the other.
std::vector<std::uint8_t> palette() {
  std::vector<std::uint8_t> bytes;
  const auto add = [&](const Colour& colour) {
    for (const double c : colour) bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * c)));
  };
  for (int i = 0; i < Image::densities; ++i) add(colour_of(i / (Image::densities - 1.0)));
  for (int i = 0; i < Image::greys; ++i) {
    const double grey = i / (Image::greys - 1.0);
    add({grey, grey, grey});
  }
  return bytes;
}

}  // namespace

Image::Image(int image_width, int image_height)
    : width(image_width),
      height(image_height),
      colours(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), white) {}

void Image::fill(int left, int top, int columns, int rows, std::uint8_t colour) {
  for (int row = std::max(0, top); row < std::min(height, top + rows); ++row)
    for (int column = std::max(0, left); column < std::min(width, left + columns); ++column)
      at(column, row) = colour;
}

void Image::ink(int column, int row, std::uint8_t coverage) {
  if (column < 0 || row < 0 || column >= width || row >= height || coverage == 0) return;
  const auto grey = static_cast<std::uint8_t>(white - coverage * (greys - 1) / 255);
  at(column, row) = std::min(at(column, row), std::max(grey, black));
}

void Image::print(const TextImage& text, int left, int top) {
  for (int row = 0; row < text.height; ++row)
    for (int column = 0; column < text.width; ++column)
      ink(left + column, top + row, text.coverage[static_cast<std::size_t>(row * text.width + column)]);
}

void Image::print_upwards(const TextImage& text, int left, int bottom) {
  for (int row = 0; row < text.height; ++row)
    for (int column = 0; column < text.width; ++column)
      ink(left + row, bottom - column, text.coverage[static_cast<std::size_t>(row * text.width + column)]);
}

void write_png(const Image& image, const std::string& path) {
  static const std::vector<std::uint8_t> colours = palette();
  AtomicFile file(path);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB_COLORMAP;
  header.colormap_entries = Image::densities + Image::greys;
  header.flags = PNG_IMAGE_FLAG_FAST;
  if (png_image_write_to_file(&header, file.temporary().c_str(), 0, image.colours.data(), 0,
                              colours.data()) == 0)
    throw InputError(fmt::format("{}: cannot write the picture: {}", path, header.message));
  file.commit();
}

}  // namespace grove
