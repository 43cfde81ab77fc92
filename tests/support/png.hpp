#pragma once

#include <png.h>

#include <string>
#include <vector>

namespace grove::testing {

/// Width, height and bytes of a PNG file; of no width if it is none.
struct Png {
  unsigned width = 0, height = 0;
  std::vector<unsigned char> bytes;

  explicit Png(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return;
    image.format = PNG_FORMAT_RGB;
    bytes.resize(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr) == 0) return;
    width = image.width, height = image.height;
  }
};

}  // namespace grove::testing
