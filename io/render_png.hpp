#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grove {

/// Eight bits each of red, green, blue; row 0 on top.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes;  ///< length 3 width height
};

/// Writes a PNG file, complete or not at all. InputError if the file cannot be written.
void write_png(const RgbImage& image, const std::string& path);

}  // namespace grove
